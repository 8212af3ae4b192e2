#include "core/byte_range.hpp"

#include <cstdint>

namespace cuward {
namespace {

using Signed = std::int64_t;

Signed floor_divide(Signed value, Signed divisor) {
    const Signed quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}

/// Whether a row of `rows` equally spaced ones of `width` bytes meets [lo, hi).
bool rows_meet(Address first, std::uint64_t width, std::uint64_t pitch, std::uint64_t rows,
               Address lo, Address hi) {
    if (rows == 1 || pitch == 0) {
        return first < hi && lo < first + width;
    }
    const std::uint64_t row = lo < first + width ? 0 : (lo - first - width) / pitch + 1;
    return row < rows && first + row * pitch < hi;
}

/// Rows of equal pitch meet iff some difference k of row numbers brings them within a width of each
/// other.
bool same_pitch_meet(const ByteRange& a, const ByteRange& b) {
    const auto pitch = static_cast<Signed>(a.pitch);
    const auto apart = static_cast<Signed>(b.lo - a.lo);
    const auto lowest = -static_cast<Signed>(a.rows - 1);
    const auto highest = static_cast<Signed>(b.rows - 1);
    const Signed k = floor_divide(-static_cast<Signed>(b.width) - apart, pitch) + 1;
    const Signed candidate = std::max(k, lowest);
    return candidate <= highest && apart + candidate * pitch < static_cast<Signed>(a.width);
}

bool linear_meets(const ByteRange& range, Address lo, Address hi) {
    for (std::uint64_t slice = 0; slice < range.slices; ++slice) {
        const Address first = range.lo + slice * range.slice_pitch;
        if (rows_meet(first, range.width, range.pitch, range.rows, lo, hi)) {
            return true;
        }
    }
    return false;
}

}  // namespace

bool overlap(const ByteRange& a, const ByteRange& b) {
    if (a.empty() || b.empty() || a.lo >= b.hi() || b.lo >= a.hi()) {
        return false;
    }
    if (a.is_linear() && b.is_linear()) {
        return true;
    }
    if (a.slices == 1 && b.slices == 1 && a.pitch == b.pitch && a.pitch != 0) {
        return same_pitch_meet(a, b);
    }
    const bool a_is_smaller = a.rows * a.slices <= b.rows * b.slices;
    const ByteRange& fewer = a_is_smaller ? a : b;
    const ByteRange& more = a_is_smaller ? b : a;
    for (std::uint64_t slice = 0; slice < fewer.slices; ++slice) {
        for (std::uint64_t row = 0; row < fewer.rows; ++row) {
            const Address lo = fewer.lo + slice * fewer.slice_pitch + row * fewer.pitch;
            if (linear_meets(more, lo, lo + fewer.width)) {
                return true;
            }
        }
    }
    return false;
}

bool covers(const ByteRange& outer, const ByteRange& inner) {
    if (outer.is_linear()) {
        return outer.lo <= inner.lo && inner.hi() <= outer.hi();
    }
    return outer == inner;
}

}  // namespace cuward
