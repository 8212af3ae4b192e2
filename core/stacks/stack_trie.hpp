// Stacks of one thread that have been seen, found again by loading a few of their words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/stacks/unwind.hpp"
#include "core/types.hpp"

namespace cuward {

/// Stacks that begin alike share nodes: a node is a word of the stack that holds a certain value,
/// its children are the words to look at next. Used by one thread only. Bounded: it starts anew
/// when it is full.
class StackTrie {
  public:
    StackTrie();

    /// The stack whose innermost return address is at `first_slot`, if it has been inserted and all
    /// its words still hold their values; StackId{0} otherwise.
    StackId find(const std::uintptr_t* first_slot);

    /// `words` is not empty.
    void insert(std::span<const StackWord> words, StackId id);

    void clear();
    std::size_t size() const { return nodes_.size() - 1; }

    /// Room for some thousand stacks of a training step, which share little beyond their innermost
    /// frames; about 64 bytes each, taken as needed.
    static constexpr std::size_t kMaxNodes = std::size_t{1} << 18;

  private:
    using NodeIndex = std::uint32_t;  ///< 0: none, and the root
    /// A node has one next place but for frames whose extent nobody could prove.
    static constexpr std::size_t kNextPlaces = 2;

    struct Node {
        StackWord word;
        NodeIndex last_child = 0;
        StackId id{};  ///< not 0: a stack ends here
        std::array<const std::uintptr_t*, kNextPlaces> next{};
    };

    NodeIndex next_of(NodeIndex at);
    NodeIndex child(NodeIndex parent, StackWord word) const;
    NodeIndex add_child(NodeIndex parent, StackWord word);
    std::size_t bucket(NodeIndex parent, StackWord word) const;
    void rehash();

    std::vector<Node> nodes_;
    std::vector<NodeIndex> buckets_;  ///< open addressing by parent and word
    std::vector<NodeIndex> parents_;  ///< of each node
};

}  // namespace cuward
