#include "core/byte_range.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace cuward {
namespace {

std::set<Address> bytes_of(const ByteRange& range) {
    std::set<Address> bytes;
    for (std::uint64_t slice = 0; slice < range.slices; ++slice) {
        for (std::uint64_t row = 0; row < range.rows; ++row) {
            for (std::uint64_t byte = 0; byte < range.width; ++byte) {
                bytes.insert(range.lo + slice * range.slice_pitch + row * range.pitch + byte);
            }
        }
    }
    return bytes;
}

TEST(ByteRange, LinearRangesMeetWhereTheyShareAByte) {
    EXPECT_TRUE(overlap(ByteRange::linear(100, 10), ByteRange::linear(109, 1)));
    EXPECT_FALSE(overlap(ByteRange::linear(100, 10), ByteRange::linear(110, 1)));
    EXPECT_FALSE(overlap(ByteRange::linear(100, 0), ByteRange::linear(100, 10)));
}

TEST(ByteRange, DisjointColumnsOfOneMatrixDoNotMeet) {
    const ByteRange left{.lo = 1000, .width = 32, .pitch = 64, .rows = 8};
    const ByteRange right{.lo = 1032, .width = 32, .pitch = 64, .rows = 8};
    EXPECT_FALSE(overlap(left, right));
    EXPECT_TRUE(overlap(left, ByteRange{.lo = 1031, .width = 32, .pitch = 64, .rows = 8}));
}

TEST(ByteRange, AgreesWithCountingBytes) {
    std::mt19937 random(1);
    const auto pick = [&](std::uint64_t lo, std::uint64_t hi) {
        return std::uniform_int_distribution<std::uint64_t>(lo, hi)(random);
    };
    const auto any = [&] {
        ByteRange range{.lo = 1000 + pick(0, 60), .width = pick(1, 6)};
        range.pitch = range.width + pick(0, 8);
        range.rows = pick(1, 4);
        range.slice_pitch = range.pitch * range.rows + pick(0, 10);
        range.slices = pick(1, 3);
        return range;
    };
    for (int i = 0; i < 20000; ++i) {
        ByteRange a = any();
        ByteRange b = any();
        if (i % 3 == 0) {
            b.pitch = a.pitch = std::max(a.pitch, b.pitch);
            a.slices = b.slices = 1;
        }
        const std::set<Address> of_a = bytes_of(a);
        bool meet = false;
        for (const Address byte : bytes_of(b)) {
            meet = meet || of_a.contains(byte);
        }
        ASSERT_EQ(overlap(a, b), meet) << i;
        ASSERT_EQ(overlap(b, a), meet) << i;
    }
}

TEST(ByteRange, ALinearRangeCoversWhatLiesInside) {
    EXPECT_TRUE(covers(ByteRange::linear(100, 10), ByteRange::linear(105, 5)));
    EXPECT_FALSE(covers(ByteRange::linear(100, 10), ByteRange::linear(105, 6)));
    EXPECT_TRUE(covers(ByteRange::linear(100, 100),
                       ByteRange{.lo = 100, .width = 4, .pitch = 10, .rows = 10}));
}

}  // namespace
}  // namespace cuward
