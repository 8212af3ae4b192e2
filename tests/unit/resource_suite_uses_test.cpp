// The waits that uses and frees queue are the same whatever the stack.
#include "tests/unit/resource_suite.hpp"

namespace cuward::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

template <typename Stack>
class ResourceSuiteUses : public ResourceSuite<Stack> {
  protected:
    void TearDown() override {
        if (this->is_live(block_)) {
            this->free_all({block_});
        }
        ResourceSuite<Stack>::TearDown();
    }
    DeviceBlock block_ = this->allocate(kNoStream);
};
TYPED_TEST_SUITE(ResourceSuiteUses, Stacks, StackName);

TYPED_TEST(ResourceSuiteUses, AreTracked) {
    EXPECT_TRUE(this->resource().supports_block_use_tracking());
}

TYPED_TEST(ResourceSuiteUses, TheFirstWaitsForNothing) {
    EXPECT_THAT(this->waits_of(this->block_, kA, Access::Read), IsEmpty());
    EXPECT_THAT(this->waits_of(this->block_, kB, Access::Write), IsEmpty());
}

TYPED_TEST(ResourceSuiteUses, AReadWaitsForTheLastWriteAlone) {
    this->touch(this->block_, kA, Access::Write);
    this->touch(this->block_, kB, Access::Read);
    EXPECT_THAT(this->waits_of(this->block_, kC, Access::Read), ElementsAre("s10 before s30"));
    EXPECT_THAT(this->waits_of(this->block_, kA, Access::Read), IsEmpty());
}

TYPED_TEST(ResourceSuiteUses, AWriteWaitsForWritesAndReadsOfOtherStreams) {
    this->touch(this->block_, kA, Access::Write);
    this->touch(this->block_, kB, Access::Read);
    this->touch(this->block_, kC, Access::Read);
    EXPECT_THAT(this->waits_of(this->block_, kC, Access::Write),
                UnorderedElementsAre("s10 before s30", "s20 before s30"));
}

TYPED_TEST(ResourceSuiteUses, AWriteTakesThePlaceOfAllBefore) {
    this->touch(this->block_, kA, Access::Write);
    this->touch(this->block_, kB, Access::ReadWrite);
    EXPECT_THAT(this->waits_of(this->block_, kA, Access::Write), ElementsAre("s20 before s10"));
}

TYPED_TEST(ResourceSuiteUses, OneOfUnknownKindIsWaitedForByAll) {
    ASSERT_TRUE(this->resource().record_block_use(BlockId(this->block_), kA));
    EXPECT_THAT(this->waits_of(this->block_, kB, Access::Read), ElementsAre("s10 before s20"));
    EXPECT_THAT(this->waits_of(this->block_, kB, Access::Write), ElementsAre("s10 before s20"));
}

TYPED_TEST(ResourceSuiteUses, OtherStreamsWaitForAStreamOrderedAllocation) {
    const DeviceBlock ordered = this->allocate(kA);
    EXPECT_THAT(this->waits_of(ordered, kA, Access::Write), IsEmpty());
    EXPECT_THAT(this->waits_of(ordered, kB, Access::Read), ElementsAre("s10 before s20"));
    this->free_all({ordered});
}

TYPED_TEST(ResourceSuiteUses, AFreeOnAStreamComesBehindAllOfThem) {
    const DeviceBlock ordered = this->allocate(kA);
    this->touch(ordered, kB, Access::Write);
    this->touch(ordered, kC, Access::Read);
    this->driver().take_calls();
    ASSERT_TRUE(this->resource().deallocate_on(ordered, StreamId{40}));
    const Calls calls = this->driver().take_calls();
    EXPECT_THAT(this->waits_in(calls), UnorderedElementsAre("s20 before s40", "s30 before s40"));
    // Nothing is freed before the last wait has been queued.
    const auto is_free = [](const std::string& call) { return call.starts_with("cuMemFree"); };
    const auto is_wait = [](const std::string& call) {
        return call.starts_with("cuStreamWaitEvent");
    };
    const auto first_free = std::find_if(calls.begin(), calls.end(), is_free);
    EXPECT_EQ(std::find_if(first_free, calls.end(), is_wait), calls.end());
}

}  // namespace
}  // namespace cuward::testing
