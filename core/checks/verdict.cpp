#include "core/checks/verdict.hpp"

namespace cuward {
namespace {

/// Whether the bytes that both surely touch overlap. A kernel is taken to touch what its pointer
/// points to.
bool surely_overlap(const PastAccess& a, const PastAccess& b) {
    if (a.range.lo == b.range.lo) {
        return true;
    }
    if (a.range_exact == b.range_exact) {
        return a.range_exact;
    }
    const PastAccess& exact = a.range_exact ? a : b;
    const PastAccess& kernel = a.range_exact ? b : a;
    return overlap(ByteRange::linear(kernel.range.lo, 1), exact.range);
}

}  // namespace

Verdict verdict_of(const PastAccess& earlier, const PastAccess& later) {
    if (!earlier.direction_known || !later.direction_known) {
        return Verdict::Possible;
    }
    if (earlier.range_exact && later.range_exact) {
        const bool may_not_happen = earlier.is_conditional || later.is_conditional;
        return may_not_happen ? Verdict::Likely : Verdict::Proven;
    }
    if (earlier.is_value || later.is_value) {
        return Verdict::Possible;  // a kernel that is given a value's address may wait for it too
    }
    return surely_overlap(earlier, later) ? Verdict::Likely : Verdict::Possible;
}

Hazard hazard_of(Access earlier, Access later) {
    if (writes(earlier)) {
        return writes(later) ? Hazard::WAW : Hazard::RAW;
    }
    return writes(later) ? Hazard::WAR : Hazard::None;
}

Verdict certainty_of(const PastAccess& access) {
    if (access.range_exact) {
        return access.is_conditional ? Verdict::Likely : Verdict::Proven;
    }
    return access.direction_known ? Verdict::Likely : Verdict::Possible;
}

const char* name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::Proven:
            return "proven";
        case Verdict::Likely:
            return "likely";
        case Verdict::Possible:
            break;
    }
    return "possible";
}

const char* name_of(Hazard hazard) {
    switch (hazard) {
        case Hazard::RAW:
            return "RAW";
        case Hazard::WAR:
            return "WAR";
        case Hazard::WAW:
            return "WAW";
        case Hazard::None:
            break;
    }
    return nullptr;
}

const char* name_of(Access access) {
    switch (access) {
        case Access::Read:
            return "read";
        case Access::Write:
            return "write";
        case Access::ReadWrite:
            break;
    }
    return "read-write";
}

}  // namespace cuward
