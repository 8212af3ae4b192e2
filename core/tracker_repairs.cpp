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

/// The default streams: their handles mean another stream in every context or thread.
bool Tracker::State::is_default(StreamSlot slot) const {
    return order.kind(slot) == StreamKind::Legacy || order.kind(slot) == StreamKind::PerThread;
}

/// Whether a call on `slot` would break the capture of `captured`: the default streams take part in
/// that of every stream but a non-blocking one.
bool Tracker::State::breaks_capture(StreamSlot slot, StreamSlot captured) const {
    return slot == captured ||
           (is_default(slot) && order.kind(captured) != StreamKind::NonBlocking);
}

Epoch Tracker::State::last_queued(StreamSlot slot) const {
    return order.calls().queued_up_to(slot, order.last(slot));
}

/// Waits until the calls that queue `epoch` and what is before it have returned, or one of them
/// turns out to be held back: that one is not waited for again.
bool Tracker::State::wait_until_queued(std::unique_lock<std::mutex>& lock, StreamSlot slot,
                                       Epoch epoch) {
    const auto is_decided = [&] {
        return last_queued(slot) >= epoch || order.calls().any_held_back(slot, epoch);
    };
    if (!changed.wait_for(lock, kPatience, is_decided)) {
        order.calls().hold_back(slot, epoch);
    }
    return last_queued(slot) >= epoch;
}

bool Tracker::State::can_record_on(StreamSlot slot, StreamId handle) const {
    // The slot of a stream that has been destroyed may serve another by now.
    const bool is_there = !order.has_ended(slot) && order.ref(slot).stream == handle;
    const bool is_captured =
        order.is_capturing(slot) || (is_default(slot) && order.is_blocking_stream_captured());
    const bool is_sealed = std::any_of(sealed.begin(), sealed.end(), [&](StreamSlot captured) {
        return breaks_capture(slot, captured);
    });
    return is_there && !is_captured && !is_sealed && !waits_for_later_work(slot, 0);
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

bool Tracker::comes_after(const UsePoint& earlier, const UsePoint& later,
                          const PendingOperation* operation) const {
    const std::lock_guard lock(state_->mutex);
    const auto covered_by = [&](const Clock& clock) {
        return clock.covers_up_to(slot_of(earlier), earlier.position);
    };
    // What a stream does next comes after all that the host knows, whether or not its clock has
    // been told already.
    if (covered_by(state_->order.host())) {
        return true;
    }
    const bool is_operation = operation != nullptr && operation->slot == slot_of(later);
    return later.stream != kNoStream &&
           covered_by(is_operation ? state_->clock_of(*operation)
                                   : state_->order.clock(slot_of(later)));
}

bool Tracker::is_queued_last(const PendingOperation& pending) const {
    const std::lock_guard lock(state_->mutex);
    return state_->order.calls().queued_up_to(pending.slot, pending.epoch) == pending.epoch - 1;
}

Tracker::Recording::Recording(Tracker& tracker, const UsePoint& earlier) : state_(*tracker.state_) {
    std::unique_lock lock(state_.mutex);
    const StreamSlot slot = slot_of(earlier);
    if (!state_.wait_until_queued(lock, slot, earlier.position) ||
        !state_.can_record_on(slot, earlier.stream)) {
        return;
    }
    work_ = state_.point_of(slot, state_.last_queued(slot));
    state_.recordings.push_back(slot);
}

Tracker::Recording::~Recording() {
    if (!work_) {
        return;
    }
    const std::lock_guard lock(state_.mutex);
    state_.recordings.erase(
        std::find(state_.recordings.begin(), state_.recordings.end(), slot_of(*work_)));
    state_.changed.notify_all();
}

void Tracker::seal(StreamRef stream) {
    std::unique_lock lock(state_->mutex);
    if (!state_->order.knows(stream)) {
        return;
    }
    const StreamSlot slot = state_->slot_of(stream);
    state_->sealed.push_back(slot);
    state_->changed.wait_for(lock, kPatience, [&] {
        return std::none_of(
            state_->recordings.begin(), state_->recordings.end(),
            [&](StreamSlot recorded) { return state_->breaks_capture(recorded, slot); });
    });
}

void Tracker::unseal(StreamRef stream) {
    const std::lock_guard lock(state_->mutex);
    if (!state_->order.knows(stream)) {
        return;
    }
    const auto mark =
        std::find(state_->sealed.begin(), state_->sealed.end(), state_->slot_of(stream));
    if (mark != state_->sealed.end()) {
        state_->sealed.erase(mark);
    }
}

void Tracker::waits(const UsePoint& later, const UsePoint& earlier, PendingOperation* operation) {
    const std::lock_guard lock(state_->mutex);
    state_->order.repair(slot_of(later), slot_of(earlier), earlier.position);
    if (operation != nullptr && operation->slot == slot_of(later)) {
        operation->complete.repaired.raise(slot_of(earlier), earlier.position);
    }
}

void Tracker::repaired(PendingOperation& pending) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->suspects.find({pending.slot, pending.epoch});
    if (found != state_->suspects.end()) {
        mark_repaired(found->second, state_->clock_of(pending));
    }
}

void Tracker::repaired(const PendingFree& pending) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->retired.find(pending.block);
    if (found != state_->retired.end()) {
        mark_repaired(found->second.suspects, state_->order.clock(state_->slot_of(pending.stream)));
    }
}

std::vector<UsePoint> Tracker::unfinished() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<UsePoint> points;
    const Order& order = state_->order;
    for (StreamSlot slot = 0; slot < order.slots(); ++slot) {
        if (!order.host().covers_up_to(slot, order.last(slot))) {
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
