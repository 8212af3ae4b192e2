#include "core/blocks/access_history.hpp"

#include <algorithm>

namespace cuward {

bool conflict(const PastAccess& a, const PastAccess& b) {
    return (writes(a.access) || writes(b.access)) && overlap(a.range, b.range);
}

bool AccessHistory::stands_for(const PastAccess& next, const PastAccess& earlier) {
    if (!next.direction_known && earlier.direction_known) {
        return false;
    }
    // A read meets only writes: it cannot stand for a write, and one of another stream is no proof
    // that this stream's next work waits for it.
    if (!writes(next.access) && (writes(earlier.access) || next.slot != earlier.slot)) {
        return false;
    }
    return covers(next.range, earlier.range);
}

std::size_t AccessHistory::size() const {
    return static_cast<std::size_t>(
        std::count_if(accesses_.begin(), accesses_.end(),
                      [](const PastAccess& access) { return access.replaced_by == 0; }));
}

std::size_t AccessHistory::next_victim(StreamSlot slot) {
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
        turn_ = (turn_ + 1) % kMost;
        if (accesses_[turn_].slot == slot) {
            return turn_;
        }
    }
    return turn_;
}

void AccessHistory::withdraw(StreamSlot slot, Epoch epoch) {
    std::erase_if(accesses_, [&](const PastAccess& access) {
        return access.slot == slot && access.epoch == epoch;
    });
    for (PastAccess& access : accesses_) {
        if (access.replaced_by == epoch && access.replaced_by_slot == slot) {
            access.replaced_by = 0;
        }
    }
}

}  // namespace cuward
