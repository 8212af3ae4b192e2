// Stacks of one thread that have been seen, found again by loading a few dozen of their words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/stacks/unwind.hpp"
#include "core/types.hpp"

namespace cuward {

/// Each stack's words lie in a row, so that one is compared without waiting for one load after
/// another. Programs repeat themselves: the stack that came after the last one before is tried
/// first. Used by one thread only. Bounded: it starts anew when it is full.
class SavedStacks {
  public:
    SavedStacks() { clear(); }

    /// The stack whose innermost return address is at `first_slot`, if it has been inserted and all
    /// its words still hold their values; StackId{0} otherwise.
    StackId find(const std::uintptr_t* first_slot);

    /// `words` is not empty.
    void insert(std::span<const StackWord> words, StackId id);

    void clear();

    /// Room for some thousand stacks, which a training step may have; 16 bytes each, taken as
    /// needed.
    static constexpr std::size_t kMaxWords = std::size_t{1} << 18;
    /// Stacks of one depth that are looked through. One more, and those are forgotten.
    static constexpr std::uint32_t kMostAlike = 1024;

  private:
    using Index = std::uint32_t;  ///< 0: none

    struct Saved {
        std::uint32_t first_word = 0;
        std::uint32_t word_count = 0;
        StackId id{};
        Index alike = 0;    ///< another of the same depth
        Index follows = 0;  ///< was found after this one last time
    };
    struct Alike {
        Index first = 0;
        std::uint32_t count = 0;
    };

    bool is_at(Index index, const std::uintptr_t* first_slot) const;
    StackId found(Index index);

    std::vector<StackWord> words_;
    std::vector<Saved> stacks_;  ///< the first stands for none
    std::unordered_map<const std::uintptr_t*, Alike> by_first_slot_;
    Index last_ = 0;
};

}  // namespace cuward
