#include "core/order/value_writes.hpp"

namespace cuward {

bool satisfies(const ValueOperation& write, const ValueOperation& wait) {
    if (write.address != wait.address) {
        return false;
    }
    const bool is_wide = write.is_wide && wait.is_wide;
    const std::uint64_t mask = is_wide ? ~std::uint64_t{0} : 0xffffffff;
    const std::uint64_t written = write.value & mask;
    const std::uint64_t awaited = wait.value & mask;
    const std::uint64_t sign = is_wide ? std::uint64_t{1} << 63 : std::uint64_t{1} << 31;
    switch (wait.kind) {
        case ValueKind::WaitGreaterOrEqual:
            return ((written - awaited) & sign) == 0;
        case ValueKind::WaitEqual:
            return written == awaited;
        case ValueKind::WaitAnd:
            return (written & awaited) != 0;
        case ValueKind::WaitNor:
            return (~(written | awaited) & mask) != 0;
        case ValueKind::Write:
            break;
    }
    return false;
}

void ValueWrites::add(const ValueOperation& write, const Clock& clock) {
    if (writes_.size() >= kMostAddresses && !writes_.contains(write.address)) {
        writes_.clear();
    }
    Place& place = writes_[write.address];
    if (place.writes.size() >= kMostWrites) {
        place.writes.erase(place.writes.begin());
    }
    place.writes.push_back({.operation = write, .clock = clock});
    place.is_overwritten = false;
}

void ValueWrites::overwritten(ByteRange range) {
    const auto end = writes_.lower_bound(range.hi());
    for (auto place = writes_.lower_bound(range.lo); place != end; ++place) {
        place->second.is_overwritten = true;
    }
}

bool ValueWrites::join(const ValueOperation& wait, Clock& clock) const {
    const auto place = writes_.find(wait.address);
    if (place == writes_.end()) {
        return false;
    }
    bool is_satisfied = false;
    for (const Write& write : place->second.writes) {
        is_satisfied = satisfies(write.operation, wait);
        if (is_satisfied && write.operation.is_fenced) {
            clock.join(write.clock);
        } else if (is_satisfied) {
            clock.join_implicit(write.clock);
        }
    }
    return is_satisfied && !place->second.is_overwritten;
}

}  // namespace cuward
