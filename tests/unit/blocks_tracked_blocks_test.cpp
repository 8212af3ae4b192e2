#include "core/blocks/tracked_blocks.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace cuward {
namespace {

TrackedBlock block_at(Address ptr, std::uint64_t bytes, std::uint64_t serial) {
    TrackedBlock block;
    block.serial = serial;
    block.ptr = ptr;
    block.bytes = bytes;
    return block;
}

TEST(TrackedBlocks, FindsTheBlockAroundAnAddress) {
    TrackedBlocks blocks;
    blocks.add(block_at(1000, 100, 1));
    blocks.add(block_at(2000, 100, 2));
    EXPECT_EQ(blocks.find(999), nullptr);
    EXPECT_EQ(blocks.find(1000)->serial, 1U);
    EXPECT_EQ(blocks.find(1099)->serial, 1U);
    EXPECT_EQ(blocks.find(1100), nullptr);
    EXPECT_EQ(blocks.find(2050)->serial, 2U);
    EXPECT_EQ(blocks.find_start(2050), nullptr);
}

TEST(TrackedBlocks, ArraysAreFoundByHandleOnly) {
    TrackedBlocks blocks;
    TrackedBlock array = block_at(0, 100, 1);
    array.kind = BlockKind::Array;
    array.handle = 5000;
    const Address place = blocks.add(std::move(array)).ptr;
    EXPECT_EQ(blocks.find(5000), nullptr);
    EXPECT_EQ(blocks.find_array(5000)->range, ByteRange::linear(place, 100));
    EXPECT_EQ(blocks.find(place + 99)->serial, 1U);
    EXPECT_EQ(blocks.find(place + 100), nullptr);
}

TEST(TrackedBlocks, AHandleThatServesAgainIsAnotherPlace) {
    TrackedBlocks blocks;
    const auto add = [&]() -> const TrackedBlock& {
        TrackedBlock memory = block_at(0, 100, 1);
        memory.kind = BlockKind::Physical;
        memory.handle = 7;
        return blocks.add(std::move(memory));
    };
    const TrackedBlock& first = add();
    const Address place = first.ptr;
    blocks.remove(first);
    blocks.remember_freed({.serial = 1, .ptr = place, .bytes = 100, .handle = 7});
    EXPECT_EQ(blocks.find_physical(7), place);
    EXPECT_NE(add().ptr, place);
    EXPECT_EQ(blocks.find_freed(place)->serial, 1U);
}

TEST(TrackedBlocks, RemembersTheFreedUntilTheirAddressesServeAgain) {
    TrackedBlocks blocks;
    const TrackedBlock freed = blocks.remove(blocks.add(block_at(1000, 100, 1)));
    blocks.remember_freed({.serial = freed.serial, .ptr = freed.ptr, .bytes = freed.bytes});
    EXPECT_EQ(blocks.find(1050), nullptr);
    EXPECT_EQ(blocks.find_freed(1050)->serial, 1U);
    blocks.add(block_at(1090, 10, 2));
    EXPECT_EQ(blocks.find_freed(1050), nullptr);
}

TEST(TrackedBlocks, RemembersABoundedNumberOfFreedBlocks) {
    TrackedBlocks blocks;
    for (std::uint64_t i = 0; i <= TrackedBlocks::kMostFreed; ++i) {
        blocks.remember_freed({.serial = i + 1, .ptr = 1000 + i * 16, .bytes = 16});
    }
    EXPECT_EQ(blocks.find_freed(1000), nullptr);
    EXPECT_NE(blocks.find_freed(1016), nullptr);
}

}  // namespace
}  // namespace cuward
