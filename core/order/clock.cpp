#include "core/order/clock.hpp"

#include <algorithm>

namespace cuward {

void Timeline::raise(StreamSlot slot, Epoch epoch) {
    if (slot >= epochs_.size()) {
        epochs_.resize(slot + 1, 0);
    }
    epochs_[slot] = std::max(epochs_[slot], epoch);
}

void Timeline::lower(StreamSlot slot, Epoch epoch) {
    if (slot < epochs_.size()) {
        epochs_[slot] = std::min(epochs_[slot], epoch);
    }
}

bool Timeline::join(const Timeline& other) {
    if (other.epochs_.size() > epochs_.size()) {
        epochs_.resize(other.epochs_.size(), 0);
    }
    bool newer = false;
    for (std::size_t slot = 0; slot < other.epochs_.size(); ++slot) {
        if (other.epochs_[slot] > epochs_[slot]) {
            epochs_[slot] = other.epochs_[slot];
            newer = true;
        }
    }
    return newer;
}

bool Timeline::covers(const Timeline& other) const {
    for (std::size_t slot = 0; slot < other.epochs_.size(); ++slot) {
        if (other.epochs_[slot] > (*this)[static_cast<StreamSlot>(slot)]) {
            return false;
        }
    }
    return true;
}

}  // namespace cuward
