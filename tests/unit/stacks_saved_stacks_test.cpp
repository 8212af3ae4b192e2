#include "core/stacks/saved_stacks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace cuward {
namespace {

/// Words that stand for a thread's stack, the innermost first.
class SavedStacksTest : public testing::Test {
  protected:
    std::array<std::uintptr_t, 8> stack{};
    SavedStacks saved;

    /// Puts values on the stack from `first` outwards.
    void enter(std::size_t first, const std::vector<std::uintptr_t>& values) {
        std::copy(values.begin(), values.end(), stack.begin() + static_cast<std::ptrdiff_t>(first));
    }
    void save(std::size_t first, std::size_t count, std::uint32_t id) {
        std::vector<StackWord> words;
        for (std::size_t i = first; i < first + count; ++i) {
            words.push_back({&stack[i], stack[i]});
        }
        saved.insert(words, StackId{id});
    }
    std::uint32_t found(std::size_t first) {
        return static_cast<std::uint32_t>(saved.find(&stack[first]));
    }
};

TEST_F(SavedStacksTest, FindsNothingAtFirst) {
    EXPECT_EQ(found(0), 0U);
}

TEST_F(SavedStacksTest, FindsAStackWhileAllItsWordsHold) {
    enter(0, {1, 2, 3});
    save(0, 3, 7);
    EXPECT_EQ(found(0), 7U);
    stack[2] = 4;
    EXPECT_EQ(found(0), 0U);
    stack[2] = 3;
    EXPECT_EQ(found(0), 7U);
}

TEST_F(SavedStacksTest, ComparesOnlyStacksThatBeginThere) {
    enter(0, {1, 2, 3});
    save(1, 2, 7);
    EXPECT_EQ(found(0), 0U);
    EXPECT_EQ(found(1), 7U);
}

TEST_F(SavedStacksTest, TellsStacksOfOneDepthApartInAnyOrder) {
    constexpr std::uint32_t kStacks = 300;
    for (std::uint32_t id = 1; id <= kStacks; ++id) {
        enter(0, {1, 2, id});
        save(0, 3, id);
    }
    for (std::uint32_t step : {1U, 7U, 113U}) {
        for (std::uint32_t i = 0; i < kStacks; ++i) {
            const std::uint32_t id = i * step % kStacks + 1;
            enter(0, {1, 2, id});
            ASSERT_EQ(found(0), id);
        }
    }
}

TEST_F(SavedStacksTest, ForgetsStacksOfOneDepthWhenThereAreTooMany) {
    for (std::uint32_t id = 1; id <= SavedStacks::kMostAlike + 1; ++id) {
        enter(0, {1, id});
        save(0, 2, id);
    }
    EXPECT_EQ(found(0), SavedStacks::kMostAlike + 1);
    enter(0, {1, 2});
    EXPECT_EQ(found(0), 0U);
}

TEST_F(SavedStacksTest, StartsAnewWhenFull) {
    for (std::uint32_t id = 1; id <= SavedStacks::kMaxWords / 8 + 1; ++id) {
        enter(0, {1, 2, 3, 4, 5, 6, 7, id});
        save(0, 8, id);
    }
    EXPECT_EQ(found(0), SavedStacks::kMaxWords / 8 + 1);
    enter(0, {1, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_EQ(found(0), 0U);
}

}  // namespace
}  // namespace cuward
