#include "core/stacks/saved_stacks.hpp"

namespace cuward {
namespace {

__attribute__((no_sanitize("address", "thread"))) bool all_hold(std::span<const StackWord> words) {
    for (const StackWord& word : words) {
        if (*word.place != word.value) {
            return false;
        }
    }
    return true;
}

}  // namespace

void SavedStacks::clear() {
    words_.clear();
    stacks_.assign(1, Saved{});
    by_first_slot_.clear();
    last_ = 0;
}

StackId SavedStacks::find(const std::uintptr_t* first_slot) {
    const Index likely = stacks_[last_].follows;
    if (likely != 0 && is_at(likely, first_slot)) {
        return found(likely);
    }
    const auto alike = by_first_slot_.find(first_slot);
    Index index = alike != by_first_slot_.end() ? alike->second.first : 0;
    while (index != 0 && !is_at(index, first_slot)) {
        index = stacks_[index].alike;
    }
    return index != 0 ? found(index) : StackId{};
}

/// All words of a stack lie outwards of its first slot. If that is where the stack in use begins,
/// they are on it too.
bool SavedStacks::is_at(Index index, const std::uintptr_t* first_slot) const {
    const Saved& saved = stacks_[index];
    const auto words = std::span(words_).subspan(saved.first_word, saved.word_count);
    return words.front().place == first_slot && all_hold(words);
}

StackId SavedStacks::found(Index index) {
    stacks_[last_].follows = index;
    last_ = index;
    return stacks_[index].id;
}

void SavedStacks::insert(std::span<const StackWord> words, StackId id) {
    if (words_.size() + words.size() > kMaxWords) {
        clear();
    }
    Alike& alike = by_first_slot_[words.front().place];
    if (alike.count == kMostAlike) {
        alike = {};
    }
    const auto index = static_cast<Index>(stacks_.size());
    stacks_.push_back({.first_word = static_cast<std::uint32_t>(words_.size()),
                       .word_count = static_cast<std::uint32_t>(words.size()),
                       .id = id,
                       .alike = alike.first});
    words_.insert(words_.end(), words.begin(), words.end());
    alike = {.first = index, .count = alike.count + 1};
    found(index);
}

}  // namespace cuward
