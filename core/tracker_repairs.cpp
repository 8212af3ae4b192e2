// What the tracker tells those who queue the waits that a program lacks.
#include <chrono>

#include "core/tracker_state.hpp"

namespace cuward {
namespace {

/// A call that queues work returns at once, unless it waits for the device or for room in the
/// queue.
constexpr std::chrono::milliseconds kPatience{100};

StreamSlot slot_of(const UsePoint& point) {
    return static_cast<StreamSlot>(point.lane);
}

}  // namespace

UsePoint Tracker::State::point_of(StreamSlot slot, Epoch epoch) const {
    const StreamRef ref = order.ref(slot);
    return {.stream = ref.stream, .context = ref.context, .lane = slot, .position = epoch};
}

StreamRef Tracker::State::stream_of(const TrackedBlock& block) const {
    const bool is_there = block.epoch != 0 && !order.has_ended(block.slot);
    return is_there ? order.ref(block.slot) : StreamRef{.context = block.context};
}

Epoch Tracker::State::last_queued(StreamSlot slot) const {
    Epoch last = order.last(slot);
    for (const auto& [of_slot, epoch] : under_way) {
        if (of_slot == slot) {
            last = std::min(last, epoch - 1);
        }
    }
    return last;
}

void Tracker::State::call_returned(StreamSlot slot, Epoch epoch) {
    const auto call = std::find(under_way.begin(), under_way.end(), std::pair{slot, epoch});
    if (call != under_way.end()) {
        *call = under_way.back();
        under_way.pop_back();
        returned.notify_all();
    }
}

std::optional<UsePoint> Tracker::point(StreamRef stream) {
    const std::lock_guard lock(state_->mutex);
    if (stream.stream == kPerThreadStream) {
        stream.thread = this_thread_id();
    }
    if (!state_->order.knows(stream)) {
        return std::nullopt;
    }
    const StreamSlot slot = state_->order.slot_of(stream);
    return state_->point_of(slot, state_->order.last(slot));
}

bool Tracker::comes_after(const UsePoint& earlier, const UsePoint& later) const {
    const std::lock_guard lock(state_->mutex);
    const bool is_host = later.stream == kNoStream;
    const Clock& clock = is_host ? state_->order.host() : state_->order.clock(slot_of(later));
    return clock.known[slot_of(earlier)] >= earlier.position;
}

bool Tracker::can_record_behind(const UsePoint& earlier) {
    std::unique_lock lock(state_->mutex);
    const StreamSlot slot = slot_of(earlier);
    const bool is_queued = state_->returned.wait_for(
        lock, kPatience, [&] { return state_->last_queued(slot) >= earlier.position; });
    const Order& order = state_->order;
    // The legacy stream takes part in the capture of any blocking stream, and breaks it.
    // An event behind a per-thread stream is recorded there.
    const bool is_default =
        order.kind(slot) == StreamKind::Legacy || order.kind(slot) == StreamKind::PerThread;
    const bool is_captured =
        order.is_capturing(slot) || (is_default && order.is_anything_capturing());
    return is_queued && !is_captured && !order.has_ended(slot);
}

void Tracker::waits(const UsePoint& later, const UsePoint& earlier, bool recorded_now) {
    const std::lock_guard lock(state_->mutex);
    const StreamSlot slot = slot_of(earlier);
    if (recorded_now) {
        state_->order.wait_for_stream(slot_of(later), slot, state_->last_queued(slot));
    } else {
        state_->order.wait_for_epoch(slot_of(later), slot, earlier.position);
    }
}

void Tracker::repaired(PendingOperation& pending, const UsePoint& earlier) {
    const std::lock_guard lock(state_->mutex);
    if (pending.teaches_host()) {
        pending.complete = state_->order.clock(pending.slot);
    }
    const auto found = state_->suspects.find({pending.slot, pending.epoch});
    if (found == state_->suspects.end()) {
        return;
    }
    for (Suspect& suspect : found->second) {
        const bool is_covered = suspect.epoch != 0 && suspect.earlier == slot_of(earlier) &&
                                suspect.epoch <= earlier.position;
        suspect.seen.is_repaired = suspect.seen.is_repaired || is_covered;
    }
}

std::vector<UsePoint> Tracker::unfinished() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<UsePoint> points;
    const Order& order = state_->order;
    for (StreamSlot slot = 0; slot < order.slots(); ++slot) {
        if (order.host().known[slot] < order.last(slot)) {
            points.push_back(state_->point_of(slot, order.last(slot)));
        }
    }
    return points;
}

bool Tracker::captures_waiters(std::uint64_t event) const {
    const std::lock_guard lock(state_->mutex);
    return state_->order.captures_waiters(event);
}

}  // namespace cuward
