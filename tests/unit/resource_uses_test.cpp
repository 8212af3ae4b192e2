// Which waits a use queues, when nothing is known of the program's own order.
#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ResourceUses : public ResourceTest {
  protected:
    DeviceBlock block_ = allocate(kNoStream);
    const BlockId id_{block_};
};

TEST_F(ResourceUses, AreTracked) {
    EXPECT_TRUE(resource_->supports_block_use_tracking());
}

TEST_F(ResourceUses, TheFirstUseWaitsForNothing) {
    EXPECT_THAT(prepare(block_, kA, Access::Read), IsEmpty());
    EXPECT_THAT(prepare(block_, kB, Access::Write), IsEmpty());
    EXPECT_THAT(prepare(block_, kC, Access::ReadWrite), IsEmpty());
}

TEST_F(ResourceUses, AReadWaitsForTheLastWriteOfAnotherStream) {
    touch(block_, kA, Access::Write);
    EXPECT_THAT(prepare(block_, kB, Access::Read), ElementsAreArray(new_wait("s10", "s20")));
}

TEST_F(ResourceUses, AReadDoesNotWaitForReads) {
    touch(block_, kA, Access::Read);
    EXPECT_THAT(prepare(block_, kB, Access::Read), IsEmpty());
}

TEST_F(ResourceUses, TheSameStreamNeverWaits) {
    touch(block_, kA, Access::Write);
    EXPECT_THAT(prepare(block_, kA, Access::Read), IsEmpty());
    touch(block_, kA, Access::Read);
    EXPECT_THAT(prepare(block_, kA, Access::Write), IsEmpty());
    EXPECT_THAT(prepare(block_, kA, Access::ReadWrite), IsEmpty());
}

TEST_F(ResourceUses, AWriteWaitsForTheLastWrite) {
    touch(block_, kA, Access::Write);
    EXPECT_THAT(prepare(block_, kB, Access::Write), ElementsAreArray(new_wait("s10", "s20")));
    EXPECT_THAT(prepare(block_, kB, Access::ReadWrite), ElementsAreArray(wait("s10", "s20")));
}

TEST_F(ResourceUses, AWriteWaitsForEveryOutstandingReadOfOtherStreams) {
    touch(block_, kA, Access::Read);
    touch(block_, kB, Access::Read);
    touch(block_, kC, Access::Read);
    EXPECT_THAT(prepare(block_, kC, Access::Write),
                ElementsAreArray(joined(new_wait("s10", "s30"), wait("s20", "s30"))));
}

TEST_F(ResourceUses, ManyReadsOfOneStreamAreOneWait) {
    touch(block_, kA, Access::Read);
    touch(block_, kA, Access::Read);
    EXPECT_THAT(prepare(block_, kB, Access::ReadWrite), ElementsAreArray(new_wait("s10", "s20")));
}

TEST_F(ResourceUses, AWriteAndAReadOfOneStreamAreOneWait) {
    touch(block_, kA, Access::Write);
    touch(block_, kA, Access::Read);
    EXPECT_THAT(prepare(block_, kB, Access::Write), ElementsAreArray(new_wait("s10", "s20")));
}

TEST_F(ResourceUses, AWriteReplacesTheLastWriteAndTheReads) {
    touch(block_, kA, Access::Write);
    touch(block_, kB, Access::Read);
    touch(block_, kC, Access::Write);
    EXPECT_THAT(prepare(block_, kA, Access::Write), ElementsAreArray(wait("s30", "s10")));
}

TEST_F(ResourceUses, PreparingAloneNotesNothing) {
    prepare(block_, kA, Access::Write);
    EXPECT_THAT(prepare(block_, kB, Access::Read), IsEmpty());
}

TEST_F(ResourceUses, MoreStreamsThanUsualAreAllWaitedFor) {
    constexpr int kStreams = 40;
    for (int i = 0; i < kStreams; ++i) {
        touch(block_, StreamId(100 + i), Access::Read);
    }
    const Calls calls = prepare(block_, kA, Access::Write);
    EXPECT_THAT(calls, SizeIs(4 * kStreams + 1));  // and one event for all of them
    EXPECT_EQ(driver_.live_events(), 1U);
}

TEST_F(ResourceUses, ARecordedUseIsWaitedForByReadsAndWrites) {
    ASSERT_TRUE(resource_->record_block_use(id_, kA));
    EXPECT_THAT(prepare(block_, kA, Access::Write), IsEmpty());
    EXPECT_THAT(prepare(block_, kB, Access::Read), ElementsAreArray(new_wait("s10", "s20")));
    EXPECT_THAT(prepare(block_, kB, Access::Write), ElementsAreArray(wait("s10", "s20")));
}

TEST_F(ResourceUses, ARecordedUseLeavesEarlierUsesOutstanding) {
    touch(block_, kA, Access::Write);
    ASSERT_TRUE(resource_->record_block_use(id_, kB));
    ASSERT_TRUE(resource_->record_block_use(id_, kB));
    EXPECT_THAT(prepare(block_, kC, Access::Read),
                ElementsAreArray(joined(new_wait("s10", "s30"), wait("s20", "s30"))));
}

TEST_F(ResourceUses, AWriteReplacesRecordedUses) {
    ASSERT_TRUE(resource_->record_block_use(id_, kA));
    touch(block_, kB, Access::Write);
    EXPECT_THAT(prepare(block_, kC, Access::Read), ElementsAreArray(wait("s20", "s30")));
}

TEST_F(ResourceUses, MemFreeQueuesNoWaitAsItWaitsForTheDevice) {
    touch(block_, kA, Access::Write);
    touch(block_, kB, Access::Read);
    EXPECT_TRUE(resource_->deallocate(block_));
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemFree(0x10000)"));
}

TEST_F(ResourceUses, SynchronousFreeOfOrdinaryMemoryIsMemFree) {
    touch(block_, kA, Access::Write);
    EXPECT_TRUE(resource_->deallocate_synchronously(block_));
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemFree(0x10000)"));
}

class ResourcePoolUses : public ResourceTest {
  protected:
    /// The free on a stream and the event that watches it.
    static Calls free_on(const std::string& stream, bool new_event = false) {
        Calls calls = {"cuMemFreeAsync(0x10000, " + stream + ")", "cuCtxGetCurrent()",
                       "cuStreamGetCtx(" + stream + ")", "cuEventRecord(e1, " + stream + ")"};
        if (new_event) {
            calls.insert(calls.end() - 1, "cuEventCreate()");
        }
        return calls;
    }

    DeviceBlock block_ = allocate(kA);
};

TEST_F(ResourcePoolUses, OtherStreamsWaitForTheAllocation) {
    EXPECT_THAT(prepare(block_, kA, Access::Write), IsEmpty());
    EXPECT_THAT(prepare(block_, kB, Access::Read), ElementsAreArray(new_wait("s10", "s20")));
}

TEST_F(ResourcePoolUses, AFreeWithoutForeignUsesWaitsForNothing) {
    touch(block_, kA, Access::Write);
    EXPECT_TRUE(resource_->deallocate(block_));
    EXPECT_THAT(driver_.take_calls(), ElementsAreArray(free_on("s10", true)));
}

TEST_F(ResourcePoolUses, TheAllocationsStreamWaitsForEveryUseBeforeTheFree) {
    touch(block_, kB, Access::Write);
    touch(block_, kC, Access::Read);
    ASSERT_TRUE(resource_->record_block_use(BlockId(block_), StreamId{40}));
    ASSERT_TRUE(resource_->deallocate(block_));
    const Calls waits = joined(joined(wait("s20", "s10"), wait("s40", "s10")), wait("s30", "s10"));
    EXPECT_THAT(driver_.take_calls(), ElementsAreArray(joined(waits, free_on("s10"))));
}

TEST_F(ResourcePoolUses, TheStreamOfAFreeElsewhereWaitsForAllocationAndUses) {
    touch(block_, kC, Access::Read);
    ASSERT_TRUE(resource_->deallocate_on(block_, kB));
    const Calls waits = joined(wait("s10", "s20"), wait("s30", "s20"));
    EXPECT_THAT(driver_.take_calls(), ElementsAreArray(joined(waits, free_on("s20"))));
}

TEST_F(ResourcePoolUses, ASynchronousFreeNotKnownToBeSafeGoesBehindTheUses) {
    touch(block_, kB, Access::Write);
    ASSERT_TRUE(resource_->deallocate_synchronously(block_));
    EXPECT_THAT(driver_.take_calls(), ElementsAreArray(joined(wait("s20", "s10"), free_on("s10"))));
}

}  // namespace
}  // namespace cuward::testing
