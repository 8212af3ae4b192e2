#include "core/stacks/stack_trie.hpp"

#include <algorithm>

namespace cuward {
namespace {

constexpr std::size_t kFirstBuckets = 256;

__attribute__((no_sanitize("address", "thread"))) std::uintptr_t load(const std::uintptr_t* place) {
    return *place;
}

StackWord now_at(const std::uintptr_t* place) {
    return {place, load(place)};
}

}  // namespace

StackTrie::StackTrie() {
    clear();
}

void StackTrie::clear() {
    nodes_.assign(1, Node{});
    parents_.assign(1, 0);
    buckets_.assign(kFirstBuckets, 0);
}

StackId StackTrie::find(const std::uintptr_t* first_slot) {
    const StackWord first = now_at(first_slot);
    NodeIndex at = nodes_[0].last_child;
    if (nodes_[at].word != first) {
        at = child(0, first);
        nodes_[0].last_child = at;
    }
    while (at != 0 && nodes_[at].id == StackId{}) {
        at = next_of(at);
    }
    return nodes_[at].id;
}

/// The child whose word is on the stack now. Its place lies outwards of words that still hold their
/// values, so it is on the stack in use.
StackTrie::NodeIndex StackTrie::next_of(NodeIndex at) {
    Node& node = nodes_[at];
    const Node& likely = nodes_[node.last_child];
    if (node.last_child != 0 && load(likely.word.place) == likely.word.value) {
        return node.last_child;
    }
    for (const std::uintptr_t* place : node.next) {
        const NodeIndex found = place == nullptr ? 0 : child(at, now_at(place));
        if (found != 0) {
            node.last_child = found;
            return found;
        }
    }
    return 0;
}

void StackTrie::insert(std::span<const StackWord> words, StackId id) {
    if (nodes_.size() + words.size() > kMaxNodes) {
        clear();
    }
    NodeIndex at = 0;
    for (const StackWord word : words) {
        const NodeIndex known = child(at, word);
        const NodeIndex next = known != 0 ? known : add_child(at, word);
        Node& parent = nodes_[at];
        parent.last_child = next;
        if (std::find(parent.next.begin(), parent.next.end(), word.place) == parent.next.end()) {
            std::copy_backward(parent.next.begin(), parent.next.end() - 1, parent.next.end());
            parent.next.front() = word.place;
        }
        at = next;
    }
    nodes_[at].id = id;
}

StackTrie::NodeIndex StackTrie::child(NodeIndex parent, StackWord word) const {
    for (std::size_t i = bucket(parent, word);; i = (i + 1) & (buckets_.size() - 1)) {
        const NodeIndex index = buckets_[i];
        if (index == 0 || (parents_[index] == parent && nodes_[index].word == word)) {
            return index;
        }
    }
}

StackTrie::NodeIndex StackTrie::add_child(NodeIndex parent, StackWord word) {
    const auto index = static_cast<NodeIndex>(nodes_.size());
    nodes_.push_back({.word = word});
    parents_.push_back(parent);
    if (2 * nodes_.size() > buckets_.size()) {
        rehash();
        return index;
    }
    std::size_t i = bucket(parent, word);
    while (buckets_[i] != 0) {
        i = (i + 1) & (buckets_.size() - 1);
    }
    buckets_[i] = index;
    return index;
}

void StackTrie::rehash() {
    buckets_.assign(2 * buckets_.size(), 0);
    for (NodeIndex index = 1; index < nodes_.size(); ++index) {
        std::size_t i = bucket(parents_[index], nodes_[index].word);
        while (buckets_[i] != 0) {
            i = (i + 1) & (buckets_.size() - 1);
        }
        buckets_[i] = index;
    }
}

std::size_t StackTrie::bucket(NodeIndex parent, StackWord word) const {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    std::uint64_t hash = reinterpret_cast<std::uint64_t>(word.place) * kSpread;
    hash = (hash ^ (hash >> 29) ^ word.value) * kSpread;
    hash = (hash ^ (hash >> 32) ^ parent) * kSpread;
    return static_cast<std::size_t>(hash >> 32) & (buckets_.size() - 1);
}

}  // namespace cuward
