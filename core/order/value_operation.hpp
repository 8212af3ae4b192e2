// Values in memory that streams write, and wait for (Driver API manual, "Stream Memory
// Operations").
#pragma once

#include <cstdint>

#include "core/byte_range.hpp"

namespace cuward {

enum class ValueKind : std::uint8_t { Write, WaitGreaterOrEqual, WaitEqual, WaitAnd, WaitNor };

struct ValueOperation {
    ValueKind kind = ValueKind::Write;
    bool is_wide = false;   ///< 64 bits, not 32
    bool is_fenced = true;  ///< of a write: the work before it is visible to who sees the value
    Address address = 0;
    std::uint64_t value = 0;

    bool is_write() const { return kind == ValueKind::Write; }
    std::uint64_t bytes() const { return is_wide ? 8 : 4; }
};

/// Whether what `write` has written ends the wait. Of values of different widths what both have.
bool satisfies(const ValueOperation& write, const ValueOperation& wait);

}  // namespace cuward
