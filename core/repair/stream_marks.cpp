#include "core/repair/stream_marks.hpp"

#include <algorithm>
#include <utility>

namespace cuward {

StreamMarks::~StreamMarks() {
    for (const auto& [number, lane] : lanes_) {
        destroy(lane);
    }
}

void StreamMarks::destroy(const Lane& lane) {
    for (const StreamMark& mark : lane.marks) {
        events_.destroy(mark.event);
    }
}

std::optional<StreamMark> StreamMarks::mark(const UsePoint& work) {
    const StreamEvent event = take_oldest(work);
    const auto recorded =
        event.event != nullptr ? events_.record_again(event, work) : events_.record(work);
    if (!recorded) {
        return std::nullopt;
    }
    const StreamMark mark{.event = *recorded, .position = work.position};
    add(work, mark);
    return mark;
}

/// The event of a full lane's oldest mark; none while there is room.
StreamEvent StreamMarks::take_oldest(const UsePoint& work) {
    const std::lock_guard lock(mutex_);
    const auto found = lanes_.find(work.lane);
    if (found == lanes_.end() || found->second.marks.size() < kMostPerLane ||
        found->second.context != work.context) {
        return {};
    }
    const StreamEvent event = found->second.marks.front().event;
    found->second.marks.pop_front();
    return event;
}

/// A lane is given to a stream of another context only when all its work is done. Of two threads
/// that mark a lane at once, the one that was there first may come second.
void StreamMarks::add(const UsePoint& work, const StreamMark& mark) {
    Lane left;
    {
        const std::lock_guard lock(mutex_);
        Lane& lane = lanes_[work.lane];
        if (lane.context != work.context) {
            left = std::exchange(lane, Lane{.context = work.context, .marks = {}});
        }
        const auto place = std::upper_bound(
            lane.marks.begin(), lane.marks.end(), mark,
            [](const StreamMark& a, const StreamMark& b) { return a.position < b.position; });
        lane.marks.insert(place, mark);
    }
    destroy(left);
}

std::optional<StreamMark> StreamMarks::behind(const UsePoint& work) const {
    const std::lock_guard lock(mutex_);
    const auto found = lanes_.find(work.lane);
    if (found == lanes_.end()) {
        return std::nullopt;
    }
    const std::deque<StreamMark>& marks = found->second.marks;
    const auto mark = std::lower_bound(
        marks.begin(), marks.end(), work.position,
        [](const StreamMark& a, std::uint64_t position) { return a.position < position; });
    return mark != marks.end() ? std::optional(*mark) : std::nullopt;
}

void StreamMarks::forget_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    std::erase_if(lanes_, [&](const auto& lane) { return lane.second.context == context; });
}

}  // namespace cuward
