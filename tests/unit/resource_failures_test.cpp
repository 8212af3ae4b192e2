// What becomes of the event when a wait fails.
#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

class ResourceWaitFailures : public ResourceTest {};

TEST_F(ResourceWaitFailures, OfAnEventRecordDestroyTheEvent) {
    const DeviceBlock block = allocate(kNoStream);
    touch(block, kA, Access::Write);
    driver_.fail_next("cuEventRecord", CUDA_ERROR_UNKNOWN);
    EXPECT_FALSE(resource_->prepare_block_use(BlockId(block), kB, Access::Read));
    EXPECT_EQ(driver_.live_events(), 0U);
}

TEST_F(ResourceWaitFailures, OfAWaitKeepTheEvent) {
    const DeviceBlock block = allocate(kNoStream);
    touch(block, kA, Access::Write);
    driver_.fail_next("cuStreamWaitEvent", CUDA_ERROR_UNKNOWN);
    EXPECT_FALSE(resource_->prepare_block_use(BlockId(block), kB, Access::Read));
    EXPECT_EQ(driver_.live_events(), 1U);
    driver_.take_calls();
    EXPECT_THAT(prepare(block, kB, Access::Read), ::testing::ElementsAreArray(wait("s10", "s20")));
}

}  // namespace
}  // namespace cuward::testing
