#include "core/blocks/pointer_table.hpp"

#include <algorithm>
#include <tuple>

namespace cuward {
namespace {

constexpr std::uint64_t kWord = sizeof(Address);

bool comes_before(const HeldPointer& pointer, std::uint64_t offset) {
    return pointer.offset < offset;
}

}  // namespace

void PointerTable::hold(std::span<const HeldPointer> pointers) {
    if (pointers.empty()) {
        return;
    }
    const auto place =
        std::lower_bound(pointers_.begin(), pointers_.end(), pointers.front().offset, comes_before);
    pointers_.insert(place, pointers.begin(), pointers.end());
    last_ = kNowhere;
}

void PointerTable::overwrite(const ByteRange& range) {
    const std::size_t gone = std::erase_if(pointers_, [&](const HeldPointer& pointer) {
        return overlap(ByteRange::linear(pointer.offset, kWord), range);
    });
    if (gone > 0) {
        last_ = kNowhere;
    }
}

std::span<const HeldPointer> PointerTable::within(std::uint64_t begin, std::uint64_t end) const {
    const auto first = std::lower_bound(pointers_.begin(), pointers_.end(), begin, comes_before);
    const auto last = std::lower_bound(first, pointers_.end(), end, comes_before);
    return {first, last};
}

const std::vector<Reached>& PointerTable::reached_from(std::uint64_t offset) {
    if (offset != last_) {
        follow(offset);
        last_ = offset;
    }
    return reached_;
}

void PointerTable::follow(std::uint64_t offset) {
    const std::span<const HeldPointer> held = within(offset, kNowhere);
    const bool is_at_one = !held.empty() && held.front().offset == offset;
    const bool is_at_start = is_at_one && held.front().begins_a_table;
    is_used_in_parts_ = is_used_in_parts_ || (is_at_one && !is_at_start);

    std::vector<Reached> all;
    all.reserve(held.size());
    bool is_of_table = is_at_start;
    for (const HeldPointer& pointer : held) {
        const bool is_first = pointer.offset == offset;
        is_of_table = is_of_table && (is_first || !pointer.begins_a_table);
        all.push_back({.address = pointer.address,
                       .target = pointer.target,
                       .is_given = is_of_table && (is_first || !is_used_in_parts_)});
    }
    std::sort(all.begin(), all.end(), [](const Reached& a, const Reached& b) {
        return std::tie(a.target, a.address, b.is_given) <
               std::tie(b.target, b.address, a.is_given);
    });
    all.erase(
        std::unique(all.begin(), all.end(),
                    [](const Reached& a, const Reached& b) { return a.address == b.address; }),
        all.end());
    keep_few(all);
}

void PointerTable::keep_few(std::span<const Reached> all) {
    reached_.clear();
    std::size_t of_this_block = 0;
    for (std::size_t i = 0; i < all.size() && reached_.size() < kMostReached; ++i) {
        of_this_block = i > 0 && all[i - 1].target == all[i].target ? of_this_block + 1 : 0;
        if (of_this_block < kMostOfOneBlock) {
            reached_.push_back(all[i]);
        } else if (of_this_block == kMostOfOneBlock) {
            reached_.push_back({all[i].address, all[i].target, false});
        }
    }
}

}  // namespace cuward
