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

TEST(ByteRange, BoxesOfOneVolumeMeetWhereTheyShareAByte) {
    // 64 bytes by 16 rows by 8 slices around them.
    const ByteRange box{
        .lo = 1000, .width = 32, .pitch = 64, .rows = 8, .slice_pitch = 1024, .slices = 4};
    const auto moved = [&](Address x, Address y, Address z) {
        ByteRange other = box;
        other.lo += x + y * box.pitch + z * box.slice_pitch;
        return other;
    };
    EXPECT_FALSE(overlap(box, moved(32, 0, 0)));
    EXPECT_FALSE(overlap(box, moved(0, 8, 0)));
    EXPECT_FALSE(overlap(box, moved(0, 0, 4)));
    EXPECT_TRUE(overlap(box, moved(31, 7, 3)));
}

TEST(ByteRange, MillionsOfRowsAreNotLookedAtOneByOne) {
    // No two rows of these meet: one kind starts at even addresses only, the other at odd ones.
    const ByteRange even{.lo = 1000,
                         .width = 1,
                         .pitch = 1002,
                         .rows = 1000000,
                         .slice_pitch = 1002 * 1000002,
                         .slices = 1000};
    const ByteRange odd{.lo = 1001,
                        .width = 1,
                        .pitch = 1004,
                        .rows = 1000000,
                        .slice_pitch = 1004 * 1000006,
                        .slices = 1000};
    for (int i = 0; i < 100; ++i) {
        ASSERT_FALSE(overlap(even, odd));
        ASSERT_FALSE(overlap(odd, even));
    }
    ByteRange wider = odd;
    wider.width = 2;
    EXPECT_TRUE(overlap(even, wider));
}

TEST(ByteRange, FewRowsInMillionsOfSlices) {
    const ByteRange even{
        .lo = 1000, .width = 1, .pitch = 2, .rows = 2, .slice_pitch = 1002, .slices = 1000000};
    const ByteRange odd{
        .lo = 1001, .width = 1, .pitch = 4, .rows = 3, .slice_pitch = 1004, .slices = 1000000};
    for (int i = 0; i < 100000; ++i) {
        ASSERT_FALSE(overlap(even, odd));
    }
}

TEST(ByteRange, RowsInOnePlaceAreOne) {
    const ByteRange stacked{.lo = 1000, .width = 4, .pitch = 0, .rows = 5, .slices = 3};
    const ByteRange rows{.lo = 1004, .width = 4, .pitch = 8, .rows = 5};
    EXPECT_FALSE(overlap(stacked, rows));
    EXPECT_TRUE(overlap(rows, ByteRange{.lo = 1012, .width = 4, .pitch = 0, .rows = 5}));
}

TEST(ByteRange, AgreesWithCountingBytes) {
    std::mt19937 random(1);
    const auto pick = [&](std::uint64_t lo, std::uint64_t hi) {
        return std::uniform_int_distribution<std::uint64_t>(lo, hi)(random);
    };
    const auto any = [&] {
        ByteRange range{.lo = 1000 + pick(0, 90), .width = pick(1, 6)};
        range.pitch = range.width + pick(0, 12);
        range.rows = pick(1, 6);
        range.slice_pitch = range.pitch * pick(1, range.rows + 3) + pick(0, 10);
        range.slices = pick(1, 4);
        return range;
    };
    int meetings = 0;
    for (int i = 0; i < 60000; ++i) {
        ByteRange a = any();
        ByteRange b = any();
        if (i % 4 != 0) {
            b.pitch = a.pitch = std::max(a.pitch, b.pitch);
        }
        if (i % 4 == 1) {
            a.slices = b.slices = 1;
        } else if (i % 4 == 2) {
            a.slice_pitch = b.slice_pitch = a.pitch * std::max(a.rows, b.rows);
        }
        const std::set<Address> of_a = bytes_of(a);
        bool meet = false;
        for (const Address byte : bytes_of(b)) {
            meet = meet || of_a.contains(byte);
        }
        ASSERT_EQ(overlap(a, b), meet) << i;
        ASSERT_EQ(overlap(b, a), meet) << i;
        meetings += meet ? 1 : 0;
    }
    EXPECT_GT(meetings, 15000);
    EXPECT_LT(meetings, 55000);
}

TEST(ByteRange, ALinearRangeCoversWhatLiesInside) {
    EXPECT_TRUE(covers(ByteRange::linear(100, 10), ByteRange::linear(105, 5)));
    EXPECT_FALSE(covers(ByteRange::linear(100, 10), ByteRange::linear(105, 6)));
    EXPECT_TRUE(covers(ByteRange::linear(100, 100),
                       ByteRange{.lo = 100, .width = 4, .pitch = 10, .rows = 10}));
}

}  // namespace
}  // namespace cuward
