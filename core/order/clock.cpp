#include "core/order/clock.hpp"

namespace cuward {

bool Timeline::is_exception(StreamSlot slot, Epoch epoch) const {
    return std::any_of(exceptions_.begin(), exceptions_.end(), [&](const Exception& exception) {
        return exception.slot == slot && exception.epoch == epoch;
    });
}

bool Timeline::covers_up_to(StreamSlot slot, Epoch epoch) const {
    return (*this)[slot] >= epoch &&
           std::none_of(exceptions_.begin(), exceptions_.end(), [&](const Exception& exception) {
               return exception.slot == slot && exception.epoch <= epoch;
           });
}

bool Timeline::covers(const Timeline& other) const {
    for (std::size_t slot = 0; slot < other.epochs_.size(); ++slot) {
        if (other.epochs_[slot] > (*this)[static_cast<StreamSlot>(slot)]) {
            return false;
        }
    }
    return std::none_of(exceptions_.begin(), exceptions_.end(), [&](const Exception& exception) {
        return other.covers(exception.slot, exception.epoch);
    });
}

void Timeline::drop_exceptions(StreamSlot slot, Epoch up_to) {
    std::erase_if(exceptions_, [&](const Exception& exception) {
        return exception.slot == slot && exception.epoch <= up_to;
    });
}

void Timeline::lower(StreamSlot slot, Epoch epoch) {
    if (slot < epochs_.size()) {
        epochs_[slot] = std::min(epochs_[slot], epoch);
        std::erase_if(exceptions_, [&](const Exception& exception) {
            return exception.slot == slot && exception.epoch > epoch;
        });
    }
}

void Timeline::leave_out(StreamSlot slot, Epoch epoch) {
    if (covers(slot, epoch)) {
        exceptions_.push_back({slot, epoch});
    }
}

bool Timeline::join(const Timeline& other) {
    bool newer = (has_exceptions() || other.has_exceptions()) && join_exceptions(other);
    if (other.epochs_.size() > epochs_.size()) {
        epochs_.resize(other.epochs_.size(), 0);
    }
    for (std::size_t slot = 0; slot < other.epochs_.size(); ++slot) {
        if (other.epochs_[slot] > epochs_[slot]) {
            epochs_[slot] = other.epochs_[slot];
            newer = true;
        }
    }
    return newer;
}

/// What neither knows stays an exception. Looks at the epochs of both before they are joined.
bool Timeline::join_exceptions(const Timeline& other) {
    const std::size_t before = std::erase_if(exceptions_, [&](const Exception& exception) {
        return other.covers(exception.slot, exception.epoch);
    });
    for (const Exception& exception : other.exceptions_) {
        if ((*this)[exception.slot] < exception.epoch) {
            exceptions_.push_back(exception);
        }
    }
    return before != 0;
}

}  // namespace cuward
