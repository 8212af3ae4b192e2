// Which writes a wait for a value comes after.
#include <gtest/gtest.h>

#include "core/order/value_writes.hpp"

namespace cuward {
namespace {

constexpr Address kFlag = 0x1000;

ValueOperation write(std::uint64_t value, bool is_wide = false, Address address = kFlag) {
    return {.kind = ValueKind::Write, .is_wide = is_wide, .address = address, .value = value};
}
ValueOperation wait(ValueKind kind, std::uint64_t value, bool is_wide = false) {
    return {.kind = kind, .is_wide = is_wide, .address = kFlag, .value = value};
}
Clock up_to(StreamSlot slot, Epoch epoch) {
    Clock clock;
    clock.raise(slot, epoch);
    return clock;
}

TEST(ValueTest, GreaterOrEqualIsCyclic) {
    EXPECT_TRUE(satisfies(write(5), wait(ValueKind::WaitGreaterOrEqual, 5)));
    EXPECT_FALSE(satisfies(write(4), wait(ValueKind::WaitGreaterOrEqual, 5)));
    EXPECT_TRUE(satisfies(write(2), wait(ValueKind::WaitGreaterOrEqual, 0xfffffffe)));
    EXPECT_FALSE(satisfies(write(2, true), wait(ValueKind::WaitGreaterOrEqual, 0xfffffffe, true)));
    EXPECT_TRUE(satisfies(write(0, true), wait(ValueKind::WaitGreaterOrEqual, ~0ULL, true)));
}

TEST(ValueTest, EqualAndBits) {
    EXPECT_TRUE(satisfies(write(7), wait(ValueKind::WaitEqual, 7)));
    EXPECT_FALSE(satisfies(write(8), wait(ValueKind::WaitEqual, 7)));
    EXPECT_TRUE(satisfies(write(6), wait(ValueKind::WaitAnd, 2)));
    EXPECT_FALSE(satisfies(write(4), wait(ValueKind::WaitAnd, 2)));
    EXPECT_TRUE(satisfies(write(0xfffffffe), wait(ValueKind::WaitNor, 0)));
    EXPECT_FALSE(satisfies(write(0xfffffffe), wait(ValueKind::WaitNor, 1)));
    EXPECT_TRUE(satisfies(write(0xfffffffe, true), wait(ValueKind::WaitNor, 1, true)));
    EXPECT_FALSE(satisfies(write(7, false, kFlag + 4), wait(ValueKind::WaitEqual, 7)));
}

TEST(ValueTest, WidthsMeetInWhatBothHave) {
    EXPECT_TRUE(satisfies(write((1ULL << 32) + 7, true), wait(ValueKind::WaitEqual, 7)));
    EXPECT_TRUE(satisfies(write(7), wait(ValueKind::WaitEqual, (1ULL << 32) + 7, true)));
}

TEST(ValueWritesTest, AWaitComesAfterEveryWriteThatSatisfiesIt) {
    ValueWrites writes;
    writes.add(write(1), up_to(0, 3));
    writes.add(write(2), up_to(1, 4));
    writes.add(write(3), up_to(2, 5));
    Clock clock;
    EXPECT_TRUE(writes.join(wait(ValueKind::WaitGreaterOrEqual, 2), clock));
    EXPECT_FALSE(clock.documented.covers(0, 3));
    EXPECT_TRUE(clock.documented.covers(1, 4));
    EXPECT_TRUE(clock.documented.covers(2, 5));
}

TEST(ValueWritesTest, OnlyTheLastWriteEndsAWaitForCertain) {
    ValueWrites writes;
    Clock clock;
    EXPECT_FALSE(writes.join(wait(ValueKind::WaitEqual, 1), clock));
    writes.add(write(1), up_to(0, 3));
    EXPECT_TRUE(writes.join(wait(ValueKind::WaitEqual, 1), clock));
    writes.add(write(0), up_to(0, 4));
    EXPECT_FALSE(writes.join(wait(ValueKind::WaitEqual, 1), clock));
    writes.add(write(1), up_to(0, 5));
    EXPECT_TRUE(writes.join(wait(ValueKind::WaitEqual, 1), clock));
    writes.overwritten(ByteRange::linear(kFlag - 8, 16));
    EXPECT_FALSE(writes.join(wait(ValueKind::WaitEqual, 1), clock));
}

TEST(ValueWritesTest, AnUnfencedWriteIsNoDocumentedOrder) {
    ValueWrites writes;
    ValueOperation unfenced = write(1);
    unfenced.is_fenced = false;
    writes.add(unfenced, up_to(0, 3));
    Clock clock;
    EXPECT_TRUE(writes.join(wait(ValueKind::WaitEqual, 1), clock));
    EXPECT_FALSE(clock.documented.covers(0, 3));
    EXPECT_TRUE(clock.known.covers(0, 3));
}

TEST(ValueWritesTest, OldWritesAreForgotten) {
    ValueWrites writes;
    for (std::uint64_t value = 1; value <= 10000; ++value) {
        writes.add(write(value), up_to(0, value));
        writes.add(write(1, false, kFlag + 16 * value), up_to(0, value));
    }
    Clock clock;
    EXPECT_FALSE(writes.join(wait(ValueKind::WaitEqual, 1), clock));
    EXPECT_TRUE(writes.join(wait(ValueKind::WaitEqual, 10000), clock));
}

}  // namespace
}  // namespace cuward
