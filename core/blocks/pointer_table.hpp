// The addresses that a block holds: what its memory points to, as far as copies have shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/byte_range.hpp"
#include "core/types.hpp"

namespace cuward {

/// An address of a tracked block, stored in another one (or in the same).
struct HeldPointer {
    std::uint64_t offset = 0;  ///< of the word, from the start of the block that holds it
    Address address = 0;
    std::uint64_t target = 0;     ///< serial number of the block that was there
    bool begins_a_table = false;  ///< a copy of addresses began with it
    bool operator==(const HeldPointer&) const = default;
};

/// Memory that a kernel may reach through a block.
struct Reached {
    Address address = 0;
    std::uint64_t target = 0;
    /// The kernel was given the start of the table that holds the pointer. Where it was given an
    /// address inside, as when streams work on parts of a table, it is not known which it follows.
    bool is_given = false;
    bool operator==(const Reached&) const = default;
};

/// Not thread-safe.
class PointerTable {
  public:
    /// How many pointers a kernel is taken to follow, and how many of them into one block, the
    /// lowest first. Of further ones into a block one stands for all, without being given.
    static constexpr std::size_t kMostReached = 64;
    static constexpr std::size_t kMostOfOneBlock = 8;

    /// Puts pointers of ascending offsets where none is held.
    void hold(std::span<const HeldPointer> pointers);
    /// Forgets the pointers of which a byte lies in `range`, of offsets.
    void overwrite(const ByteRange& range);
    /// Those in [begin, end).
    std::span<const HeldPointer> within(std::uint64_t begin, std::uint64_t end) const;

    /// What a kernel reaches that was given the address at `offset`, each address once.
    const std::vector<Reached>& reached_from(std::uint64_t offset);

  private:
    void follow(std::uint64_t offset);
    void keep_few(std::span<const Reached> all);

    std::vector<HeldPointer> pointers_;  ///< by offset
    bool is_used_in_parts_ = false;      ///< kernels were given addresses inside
    /// The answer to the last question, as the same one comes with every launch.
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
    std::uint64_t last_ = kNowhere;
    std::vector<Reached> reached_;
};

}  // namespace cuward
