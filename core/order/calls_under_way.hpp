// Operations whose calls have not returned: they have their place in the order already, but the
// driver may queue them after what other threads queue now.
#pragma once

#include <algorithm>
#include <vector>

#include "core/order/clock.hpp"

namespace cuward {

/// Not thread-safe.
class CallsUnderWay {
  public:
    void add(StreamSlot slot, Epoch epoch) { calls_.push_back({.slot = slot, .epoch = epoch}); }
    void remove(StreamSlot slot, Epoch epoch);

    bool contains(StreamSlot slot, Epoch epoch) const {
        return std::any_of(calls_.begin(), calls_.end(), [&](const Call& call) {
            return call.slot == slot && call.epoch == epoch;
        });
    }
    /// Whether one of these has been given up: the driver holds it back.
    bool any_held_back(StreamSlot slot, Epoch up_to) const;
    void hold_back(StreamSlot slot, Epoch up_to);

    /// The last operation of a stream, at most `last`, up to which all have been queued.
    Epoch queued_up_to(StreamSlot slot, Epoch last) const;
    /// Forgets those of a stream.
    void leave_out_of(Clock& clock, StreamSlot slot) const {
        for (const Call& call : calls_) {
            if (call.slot == slot) {
                clock.leave_out(slot, call.epoch);
            }
        }
    }

  private:
    struct Call {
        StreamSlot slot = 0;
        Epoch epoch = 0;
        bool is_held_back = false;
    };

    std::vector<Call> calls_;
};

}  // namespace cuward
