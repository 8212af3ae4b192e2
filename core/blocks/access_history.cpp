#include "core/blocks/access_history.hpp"

#include <algorithm>

namespace cuward {

bool conflict(const PastAccess& a, const PastAccess& b) {
    return (writes(a.access) || writes(b.access)) && overlap(a.range, b.range);
}

bool AccessHistory::stands_for(const PastAccess& next, const PastAccess& earlier) {
    const bool is_less_certain = (!next.direction_known && earlier.direction_known) ||
                                 (!next.range_exact && earlier.range_exact) ||
                                 (next.is_conditional && !earlier.is_conditional);
    if (is_less_certain) {
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
    return static_cast<std::size_t>(std::count_if(
        keys_.begin(), keys_.end(), [](const Key& key) { return key.replaced_by == 0; }));
}

void AccessHistory::put(const PastAccess& next) {
    const Key key{.lo = next.range.lo, .epoch = next.epoch, .slot = next.slot};
    if (keys_.size() < kMost) {
        keys_.push_back(key);
        accesses_.push_back(next);
        return;
    }
    const std::size_t victim = next_victim(next.slot);
    keys_[victim] = key;
    accesses_[victim] = next;
}

std::size_t AccessHistory::next_victim(StreamSlot slot) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        turn_ = (turn_ + 1) % kMost;
        if (keys_[turn_].slot == slot) {
            return turn_;
        }
    }
    return turn_;
}

void AccessHistory::withdraw(StreamSlot slot, Epoch epoch) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        Key& key = keys_[i];
        if (key.slot == slot && key.epoch == epoch) {
            continue;
        }
        if (key.replaced_by == epoch && key.replaced_by_slot == slot) {
            key.replaced_by = 0;
        }
        move_to(kept++, i);
    }
    keys_.resize(kept);
    accesses_.resize(kept);
}

}  // namespace cuward
