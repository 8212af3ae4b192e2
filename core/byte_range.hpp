// Which bytes an operation touches: rows of a pitched copy exactly, not their hull.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/types.hpp"

namespace cuward {

/// `slices` layers, `slice_pitch` bytes apart, of `rows` rows, `pitch` bytes apart, of `width`
/// bytes each. A linear range is one row of one slice. All in bytes; `lo` is the address of the
/// first.
struct ByteRange {
    Address lo = 0;
    std::uint64_t width = 0;
    std::uint64_t pitch = 0;
    std::uint64_t rows = 1;
    std::uint64_t slice_pitch = 0;
    std::uint64_t slices = 1;

    static ByteRange linear(Address lo, std::uint64_t bytes) { return {.lo = lo, .width = bytes}; }

    /// Address after the last byte touched.
    Address hi() const { return lo + (slices - 1) * slice_pitch + (rows - 1) * pitch + width; }
    bool is_linear() const { return rows == 1 && slices == 1; }
    bool empty() const { return width == 0 || rows == 0 || slices == 0; }
    bool operator==(const ByteRange&) const = default;
};

/// Whether the two touch a common byte.
bool overlap(const ByteRange& a, const ByteRange& b);

/// Whether every byte of `inner` is surely touched by `outer`; may say no for pitched ranges.
bool covers(const ByteRange& outer, const ByteRange& inner);

}  // namespace cuward
