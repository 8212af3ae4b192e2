#include "core/blocks/pointer_table.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace cuward {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A table of pointers, each to a block of its own.
std::vector<HeldPointer> table(std::uint64_t offset, std::uint64_t count) {
    std::vector<HeldPointer> pointers;
    for (std::uint64_t i = 0; i < count; ++i) {
        pointers.push_back({.offset = offset + i * 8,
                            .address = 0x1000 * (offset / 8 + i + 1),
                            .target = offset / 8 + i + 1,
                            .begins_a_table = i == 0});
    }
    return pointers;
}

TEST(PointerTable, AKernelIsGivenTheTableThatItsPointerStarts) {
    PointerTable pointers;
    pointers.hold(table(0, 2));
    pointers.hold(table(16, 1));
    EXPECT_THAT(
        pointers.reached_from(0),
        ElementsAre(Reached{0x1000, 1, true}, Reached{0x2000, 2, true}, Reached{0x3000, 3, false}));
    EXPECT_THAT(pointers.reached_from(16), ElementsAre(Reached{0x3000, 3, true}));
    EXPECT_THAT(pointers.reached_from(24), IsEmpty());
}

TEST(PointerTable, WhatIsUsedOfATableInPartsIsNotKnown) {
    PointerTable pointers;
    pointers.hold(table(0, 3));
    EXPECT_THAT(pointers.reached_from(8),
                ElementsAre(Reached{0x2000, 2, false}, Reached{0x3000, 3, false}));
    EXPECT_THAT(pointers.reached_from(0),
                ElementsAre(Reached{0x1000, 1, true}, Reached{0x2000, 2, false},
                            Reached{0x3000, 3, false}));
}

TEST(PointerTable, WithinAStructureNothingIsGiven) {
    PointerTable pointers;
    std::vector<HeldPointer> fields = table(8, 1);
    fields[0].begins_a_table = false;
    pointers.hold(fields);
    EXPECT_THAT(pointers.reached_from(0), ElementsAre(Reached{0x2000, 2, false}));
}

TEST(PointerTable, WhatIsOverwrittenIsGone) {
    PointerTable pointers;
    pointers.hold(table(0, 4));
    EXPECT_THAT(pointers.reached_from(0), SizeIs(4));
    pointers.overwrite(ByteRange::linear(15, 2));
    EXPECT_THAT(pointers.within(0, 32), ElementsAre(table(0, 4)[0], table(0, 4)[3]));
    pointers.overwrite({.lo = 0, .width = 4, .pitch = 12, .rows = 2});
    EXPECT_THAT(pointers.within(0, 32), ElementsAre(table(0, 4)[3]));
    EXPECT_THAT(pointers.reached_from(0), ElementsAre(Reached{0x4000, 4, false}));
}

TEST(PointerTable, ManyPointersIntoOneBlockAreFewAccesses) {
    PointerTable pointers;
    std::vector<HeldPointer> slices = table(0, 100);
    for (HeldPointer& slice : slices) {
        slice.target = 1;
    }
    std::swap(slices[0].address, slices[50].address);
    pointers.hold(slices);
    const std::vector<Reached>& reached = pointers.reached_from(0);
    ASSERT_THAT(reached, SizeIs(PointerTable::kMostOfOneBlock + 1));
    EXPECT_EQ(reached.front(), (Reached{0x1000, 1, true}));
    EXPECT_EQ(reached.back(), (Reached{0x9000, 1, false}));
}

TEST(PointerTable, TheSameAddressCountsOnce) {
    PointerTable pointers;
    std::vector<HeldPointer> twice = table(0, 2);
    twice[1].address = twice[0].address;
    twice[1].target = twice[0].target;
    pointers.hold(twice);
    EXPECT_THAT(pointers.reached_from(0), ElementsAre(Reached{0x1000, 1, true}));
}

TEST(PointerTable, FollowsABoundedNumber) {
    PointerTable pointers;
    pointers.hold(table(0, 10000));
    EXPECT_THAT(pointers.reached_from(0), SizeIs(PointerTable::kMostReached));
}

}  // namespace
}  // namespace cuward
