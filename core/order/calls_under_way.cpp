#include "core/order/calls_under_way.hpp"

namespace cuward {

void CallsUnderWay::remove(StreamSlot slot, Epoch epoch) {
    const auto call = std::find_if(calls_.begin(), calls_.end(), [&](const Call& other) {
        return other.slot == slot && other.epoch == epoch;
    });
    if (call != calls_.end()) {
        *call = calls_.back();
        calls_.pop_back();
    }
}

bool CallsUnderWay::any_held_back(StreamSlot slot, Epoch up_to) const {
    return std::any_of(calls_.begin(), calls_.end(), [&](const Call& call) {
        return call.slot == slot && call.epoch <= up_to && call.is_held_back;
    });
}

void CallsUnderWay::hold_back(StreamSlot slot, Epoch up_to) {
    for (Call& call : calls_) {
        call.is_held_back = call.is_held_back || (call.slot == slot && call.epoch <= up_to);
    }
}

Epoch CallsUnderWay::queued_up_to(StreamSlot slot, Epoch last) const {
    for (const Call& call : calls_) {
        if (call.slot == slot) {
            last = std::min(last, call.epoch - 1);
        }
    }
    return last;
}

}  // namespace cuward
