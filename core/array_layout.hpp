// How the elements of an array are counted: row by row, as if they lay there without gaps. Where
// they really are only the driver knows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/byte_range.hpp"

namespace cuward {

struct ArrayLayout {
    std::uint64_t element_bytes = 1;
    std::uint64_t width = 1;  ///< in elements
    std::uint64_t rows = 1;   ///< of a slice or layer
    std::uint64_t slices = 1;
    bool is_layered = false;  ///< levels have as many slices as the array
    bool is_known = false;    ///< else the size of the elements is a guess

    std::uint64_t row_bytes() const { return width * element_bytes; }
    std::uint64_t slice_bytes() const { return row_bytes() * rows; }
    std::uint64_t bytes() const { return slice_bytes() * slices; }

    /// Every level of a mipmapped array has half the size of the one before in each dimension.
    ArrayLayout next_level() const {
        const auto half = [](std::uint64_t n) { return std::max<std::uint64_t>(n / 2, 1); };
        ArrayLayout next = *this;
        next.width = half(width);
        next.rows = half(rows);
        next.slices = is_layered ? slices : half(slices);
        return next;
    }
    bool operator==(const ArrayLayout&) const = default;
};

/// An array as copies and objects use it.
struct ArrayPlace {
    ByteRange range;  ///< all of it, at addresses that no other memory has
    ArrayLayout layout;
};

}  // namespace cuward
