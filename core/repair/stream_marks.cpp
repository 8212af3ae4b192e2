#include "core/repair/stream_marks.hpp"

#include <utility>

namespace cuward {

StreamMarks::~StreamMarks() {
    for (const auto& [number, lane] : lanes_) {
        for (std::size_t i = 0; i < lane.count; ++i) {
            events_.destroy(lane.marks[(lane.oldest + i) % kMostPerLane].event);
        }
    }
}

void StreamMarks::mark(const UsePoint& work) {
    StreamEvent event = take_oldest(work);
    const auto recorded =
        event.event != nullptr ? events_.record_again(event, work) : events_.record(work);
    if (recorded) {
        add(work, *recorded);
    }
}

/// The event of a full lane's oldest mark; none while there is room.
StreamEvent StreamMarks::take_oldest(const UsePoint& work) {
    const std::lock_guard lock(mutex_);
    const auto found = lanes_.find(work.lane);
    if (found == lanes_.end() || found->second.count < kMostPerLane ||
        found->second.context != work.context) {
        return {};
    }
    Lane& lane = found->second;
    const StreamEvent event = lane.marks[lane.oldest].event;
    lane.oldest = (lane.oldest + 1) % kMostPerLane;
    --lane.count;
    return event;
}

/// A lane is given to a stream of another context only when all its work is done.
void StreamMarks::add(const UsePoint& work, const StreamEvent& event) {
    Lane left;
    {
        const std::lock_guard lock(mutex_);
        Lane& lane = lanes_[work.lane];
        if (lane.context != work.context || lane.count == kMostPerLane) {
            left = std::exchange(lane, Lane{.context = work.context});
        }
        lane.marks[(lane.oldest + lane.count) % kMostPerLane] = {.event = event,
                                                                 .position = work.position};
        ++lane.count;
    }
    for (std::size_t i = 0; i < left.count; ++i) {
        events_.destroy(left.marks[(left.oldest + i) % kMostPerLane].event);
    }
}

std::uint64_t StreamMarks::behind(const UsePoint& work) const {
    const std::lock_guard lock(mutex_);
    const auto found = lanes_.find(work.lane);
    if (found == lanes_.end()) {
        return 0;
    }
    const Lane& lane = found->second;
    for (std::size_t i = 0; i < lane.count; ++i) {
        const Mark& mark = lane.marks[(lane.oldest + i) % kMostPerLane];
        if (mark.position >= work.position) {
            return reinterpret_cast<std::uint64_t>(mark.event.event);
        }
    }
    return 0;
}

void StreamMarks::forget_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    std::erase_if(lanes_, [&](const auto& lane) { return lane.second.context == context; });
}

}  // namespace cuward
