#include "core/blocks/access_history.hpp"

#include <algorithm>

namespace cuward {

bool conflict(const PastAccess& a, const PastAccess& b) {
    return (writes(a.access) || writes(b.access)) && overlap(a.range, b.range);
}

bool AccessHistory::stands_for(const PastAccess& next, const PastAccess& earlier) {
    // A read meets only writes; it cannot stand for an earlier write, which meets reads too.
    if (writes(earlier.access) && !writes(next.access)) {
        return false;
    }
    // A read of another stream is no proof that this stream's next work waits for it.
    if (!writes(next.access) && next.slot != earlier.slot) {
        return false;
    }
    if (!next.direction_known && earlier.direction_known) {
        return false;
    }
    if (next.range_exact) {
        return covers(next.range, earlier.range);
    }
    return !earlier.range_exact && next.range.lo == earlier.range.lo &&
           covers(next.range, earlier.range);
}

void AccessHistory::withdraw(StreamSlot slot, Epoch epoch) {
    std::erase_if(accesses_, [&](const PastAccess& access) {
        return access.slot == slot && access.epoch == epoch;
    });
}

}  // namespace cuward
