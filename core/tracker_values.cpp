// Streams that wait for values in memory: what they come after, and what may come after them.
#include "core/tracker_state.hpp"

namespace cuward {

/// Joins what comes before the operation by the values that it waits for. A value that the host, a
/// kernel or a later write may provide stands for any work.
void Tracker::State::wait_for_values(PendingOperation& pending, Clock& clock) {
    for (const ValueOperation& wait : pending.values) {
        if (!wait.is_write() && !is_provided(wait, clock)) {
            clock.join_implicit(order.work_of_all());
        }
    }
}

/// Whether what ends a wait is known for certain. Memory that the host can write may hold any
/// value.
bool Tracker::State::is_provided(const ValueOperation& wait, Clock& clock) {
    const bool is_written = values.join(wait, clock);
    const TrackedBlock* const block = blocks.find(wait.address);
    return is_written && block != nullptr &&
           (block->kind == BlockKind::Device || block->kind == BlockKind::Async);
}

/// The operation has been queued: its values can be seen, and whoever waits for one comes after it.
void Tracker::State::values_queued(const PendingOperation& pending) {
    for (const ValueOperation& operation : pending.values) {
        if (operation.is_write()) {
            values.add(operation, pending.complete);
            end_waits(operation, pending.complete);
        } else if (Clock clock; is_provided(operation, clock)) {
            order.join(pending.slot, clock);
        } else {
            open_wait({.wait = operation, .slot = pending.slot, .epoch = pending.epoch});
        }
    }
}

/// Of each place that a stream waits at, the last wait is kept, as if it had begun with the first.
void Tracker::State::open_wait(const OpenWait& wait) {
    std::erase_if(open_waits, [&](const OpenWait& open) {
        return order.host().known.covers(open.slot, open.epoch);
    });
    const auto same = std::find_if(open_waits.begin(), open_waits.end(), [&](const OpenWait& open) {
        return open.slot == wait.slot && open.wait.address == wait.wait.address;
    });
    if (same != open_waits.end()) {
        same->wait = wait.wait;
    } else {
        open_waits.push_back(wait);
    }
}

void Tracker::State::end_waits(const ValueOperation& write, const Clock& clock) {
    Clock before;
    if (write.is_fenced) {
        before.join(clock);
    } else {
        before.join_implicit(clock);
    }
    std::erase_if(open_waits, [&](const OpenWait& open) {
        const bool ends = satisfies(write, open.wait);
        if (ends) {
            order.join(open.slot, before);
        }
        return ends;
    });
}

/// Whether an operation, or what its stream does next if it is 0, may be waiting for something that
/// is still to be queued.
bool Tracker::State::waits_for_later_work(StreamSlot slot, Epoch epoch) const {
    return std::any_of(open_waits.begin(), open_waits.end(), [&](const OpenWait& open) {
        return open.slot == slot && (epoch == 0 || open.epoch <= epoch) &&
               !order.host().known.covers(slot, open.epoch);
    });
}

}  // namespace cuward
