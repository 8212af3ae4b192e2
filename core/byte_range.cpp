#include "core/byte_range.hpp"

#include <cstdint>
#include <optional>

namespace cuward {
namespace {

using Signed = std::int64_t;

Signed signed_of(std::uint64_t value) {
    return static_cast<Signed>(value);
}

Signed floor_divide(Signed value, Signed divisor) {
    const Signed quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}
Signed ceil_divide(Signed value, Signed divisor) {
    return -floor_divide(-value, divisor);
}
Signed modulo(Signed value, Signed divisor) {
    return value - floor_divide(value, divisor) * divisor;
}

/// Equally spaced rows.
struct Rows {
    Signed width;
    Signed pitch;
    Signed count;

    Signed extent() const { return (count - 1) * pitch + width; }
};

/// A range as rows of rows; no pitch is 0.
struct Box {
    Rows rows;
    Signed slice_pitch;
    Signed slices;

    Signed extent() const { return (slices - 1) * slice_pitch + rows.extent(); }
    /// The same bytes, counted the other way round.
    Box turned() const { return {{rows.width, slice_pitch, slices}, rows.pitch, rows.count}; }
};

Box box_of(const ByteRange& range) {
    Box box{.rows = {signed_of(range.width), signed_of(range.pitch), signed_of(range.rows)},
            .slice_pitch = signed_of(range.slice_pitch),
            .slices = signed_of(range.slices)};
    if (box.rows.count == 1) {
        box = box.turned();
    }
    if (box.rows.count == 1 || box.rows.pitch == 0) {
        box.rows.count = box.rows.pitch = 1;
    }
    if (box.slices == 1 || box.slice_pitch == 0) {
        box.slices = box.slice_pitch = 1;
    }
    return box;
}

/// Rows of one pitch, `b` starting `apart` bytes after `a`, meet iff some difference of row numbers
/// brings them within a width of each other.
bool same_pitch_meet(const Rows& a, const Rows& b, Signed apart) {
    const Signed lowest = 1 - a.count;
    const Signed highest = b.count - 1;
    const Signed k = std::max(floor_divide(-b.width - apart, a.pitch) + 1, lowest);
    return k <= highest && apart + k * a.pitch < a.width;
}

/// The smallest x ≥ 0 with lo ≤ factor * x mod modulus ≤ hi, where 0 ≤ lo ≤ hi < modulus and
/// factor < modulus. None also where factor * x would be no address. O(log modulus): the question
/// is handed down as Euclid's algorithm goes.
std::optional<Signed> first_within(Signed factor, Signed modulus, Signed lo, Signed hi) {
    constexpr Signed kMost = Signed{1} << 62;
    if (lo == 0) {
        return 0;
    }
    if (factor == 0) {
        return std::nullopt;
    }
    const Signed x = ceil_divide(lo, factor);
    if (x <= hi / factor) {
        return x;
    }
    // factor * x - modulus * y lies in [lo, hi], where no multiple of factor does.
    const auto y = first_within(modulus % factor, factor, modulo(-hi, factor), modulo(-lo, factor));
    if (!y || *y > (kMost - hi) / modulus) {
        return std::nullopt;
    }
    return ceil_divide(lo + modulus * *y, factor);
}

/// Row i of `a` meets the first row of `b` that ends behind its start, or none. With t the distance
/// from the start of `b` to the first place where a row that meets it can start, the first row of
/// `b` from there on must not be more than `slack` away.
bool rows_meet(const Rows& a, const Rows& b, Signed apart) {
    if (a.pitch == b.pitch) {
        return same_pitch_meet(a, b, apart);
    }
    const Signed slack = a.width + b.width - 2;
    const Signed reach = apart + b.width - 1;  // t = i * a.pitch - reach
    // Rows of `a` for which t ≤ 0: they can meet only the first row of `b`.
    const Signed before = std::min(floor_divide(reach, a.pitch), a.count - 1);
    if (std::max(ceil_divide(reach - slack, a.pitch), Signed{0}) <= before) {
        return true;
    }
    // Rows of `a` with a row of `b` at t or behind: it is -t mod b.pitch away.
    const Signed first = std::max(floor_divide(reach, a.pitch) + 1, Signed{0});
    const Signed last =
        std::min(floor_divide((b.count - 1) * b.pitch + reach, a.pitch), a.count - 1);
    if (first > last) {
        return false;
    }
    if (slack >= b.pitch - 1) {
        return true;
    }
    const Signed away = modulo(reach - first * a.pitch, b.pitch);
    if (away <= slack) {
        return true;
    }
    const auto more =
        first_within(modulo(-a.pitch, b.pitch), b.pitch, b.pitch - away, b.pitch - away + slack);
    return more && *more <= last - first;
}

/// Slices of one volume: only the difference of their numbers counts, and few of them bring slices
/// close enough.
bool slices_of_one_volume_meet(const Box& a, const Box& b, Signed apart) {
    const Signed lowest = ceil_divide(1 - apart - b.rows.extent(), a.slice_pitch);
    const Signed highest = floor_divide(a.rows.extent() - 1 - apart, a.slice_pitch);
    for (Signed k = std::max(lowest, 1 - a.slices); k <= std::min(highest, b.slices - 1); ++k) {
        if (same_pitch_meet(a.rows, b.rows, apart + k * a.slice_pitch)) {
            return true;
        }
    }
    return false;
}

/// Compares each slice of `a` that reaches into the extent of `b` with those of `b` that are close
/// enough.
bool slices_meet(const Box& a, const Box& b, Signed apart) {
    const Signed first = ceil_divide(apart + 1 - a.rows.extent(), a.slice_pitch);
    const Signed last = floor_divide(apart + b.extent() - 1, a.slice_pitch);
    for (Signed slice = std::max(first, Signed{0}); slice <= std::min(last, a.slices - 1);
         ++slice) {
        const Signed distance = apart - slice * a.slice_pitch;
        const Signed lowest = ceil_divide(1 - distance - b.rows.extent(), b.slice_pitch);
        const Signed highest = floor_divide(a.rows.extent() - 1 - distance, b.slice_pitch);
        for (Signed k = std::max(lowest, Signed{0}); k <= std::min(highest, b.slices - 1); ++k) {
            if (rows_meet(a.rows, b.rows, distance + k * b.slice_pitch)) {
                return true;
            }
        }
    }
    return false;
}

bool boxes_meet(const Box& a, const Box& b, Signed apart) {
    if (a.rows.pitch == b.rows.pitch && a.slice_pitch == b.slice_pitch) {
        return slices_of_one_volume_meet(a, b, apart);
    }
    // Boxes of few rows in many slices are compared the other way round.
    if (a.rows.count * b.rows.count < a.slices + b.slices) {
        return slices_meet(a.turned(), b.turned(), apart);
    }
    return slices_meet(a, b, apart);
}

}  // namespace

bool overlap(const ByteRange& a, const ByteRange& b) {
    if (a.empty() || b.empty() || a.lo >= b.hi() || b.lo >= a.hi()) {
        return false;
    }
    if (a.is_linear() && b.is_linear()) {
        return true;
    }
    return boxes_meet(box_of(a), box_of(b), signed_of(b.lo - a.lo));
}

bool covers(const ByteRange& outer, const ByteRange& inner) {
    if (outer.is_linear()) {
        return outer.lo <= inner.lo && inner.hi() <= outer.hi();
    }
    return outer == inner;
}

}  // namespace cuward
