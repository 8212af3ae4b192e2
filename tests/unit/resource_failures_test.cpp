// Every driver call of every operation fails once: nothing is lost, nothing is freed twice.
#include <algorithm>

#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

using Operation = std::function<ResourceResult<void>(DirectCudaResource&, const DeviceBlock&)>;

struct Case {
    const char* name;
    StreamId alloc_stream;
    Operation run;
};

void PrintTo(const Case& test, std::ostream* out) {
    *out << test.name;
}

std::string name_of(const ::testing::TestParamInfo<Case>& test) {
    return test.param.name;
}

class ResourceFailures : public ResourceTest, public ::testing::WithParamInterface<Case> {
  protected:
    /// A block with a use on each of several streams, one of them of another context.
    DeviceBlock used_block() {
        driver_.set_stream_context(kC, kOtherContext);
        const DeviceBlock block = allocate(GetParam().alloc_stream);
        touch(block, kB, Access::Write);
        touch(block, kC, Access::Read);
        touch(block, kPerThreadStream, Access::Read);
        return block;
    }

    ResourceResult<void> run(const DeviceBlock& block) { return GetParam().run(*resource_, block); }

    void expect_live(const DeviceBlock& block) {
        const auto found = resource_->find(block.ptr);
        ASSERT_TRUE(found);
        EXPECT_EQ(BlockId(*found), BlockId(block));
        EXPECT_EQ(driver_.live_allocations(), 1U);
    }
};

TEST_P(ResourceFailures, LeaveTheBlockAsItWas) {
    const DeviceBlock block = used_block();
    for (int nth = 1;; ++nth) {
        driver_.fail_call(nth, CUDA_ERROR_LAUNCH_FAILED);
        const auto result = run(block);
        if (result) {
            EXPECT_GT(nth, 1);
            break;
        }
        expect_failure(result, ResourceError::Driver, CUDA_ERROR_LAUNCH_FAILED);
        expect_live(block);
        EXPECT_EQ(resource_->bytes_outstanding(), block.bytes);
    }
    driver_.cancel_failure();
}

const std::vector<Case> kFrees = {
    {"free", kNoStream,
     [](auto& resource, const auto& block) { return resource.deallocate(block); }},
    {"pool_free", kA, [](auto& resource, const auto& block) { return resource.deallocate(block); }},
    {"free_elsewhere", kA,
     [](auto& resource, const auto& block) { return resource.deallocate_on(block, StreamId{40}); }},
    {"synchronous_free", kA,
     [](auto& resource, const auto& block) { return resource.deallocate_synchronously(block); }}};

const std::vector<Case> kUses = {
    {"read", kA,
     [](auto& resource, const auto& block) {
         return resource.prepare_block_use(BlockId(block), kA, Access::Read);
     }},
    {"write", kA, [](auto& resource, const auto& block) {
         return resource.prepare_block_use(BlockId(block), kA, Access::Write);
     }}};

INSTANTIATE_TEST_SUITE_P(Frees, ResourceFailures, ::testing::ValuesIn(kFrees), name_of);
INSTANTIATE_TEST_SUITE_P(Uses, ResourceFailures, ::testing::ValuesIn(kUses), name_of);

class ResourceFreeFailures : public ResourceFailures {};

/// Also of the calls after the free itself, which do not fail the operation.
TEST_P(ResourceFreeFailures, LoseNothingAndFreeNothingTwice) {
    DeviceBlock block = used_block();
    for (int nth = 1;; ++nth) {
        const std::size_t before = resource_->bytes_outstanding();
        driver_.fail_call(nth, CUDA_ERROR_LAUNCH_FAILED);
        const auto result = run(block);
        if (driver_.cancel_failure()) {
            EXPECT_TRUE(result);
            break;
        }
        if (result) {
            EXPECT_FALSE(resource_->find(block.ptr));
            EXPECT_EQ(driver_.live_allocations(), 0U);
            block = used_block();
        } else {
            expect_live(block);
            EXPECT_EQ(resource_->bytes_outstanding(), before);
        }
    }
    driver_.complete_everything();
    resource_->reap_pending();
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
    EXPECT_EQ(driver_.live_allocations(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Frees, ResourceFreeFailures, ::testing::ValuesIn(kFrees), name_of);

class ResourceFreeBehindUsesFailures : public ResourceFailures {};

TEST_P(ResourceFreeBehindUsesFailures, LeaveTheUsesOutstanding) {
    const DeviceBlock block = used_block();
    driver_.fail_next("cuMemFreeAsync", CUDA_ERROR_UNKNOWN);
    const auto waits = [&] {
        const Calls calls = driver_.take_calls();
        return std::count_if(calls.begin(), calls.end(), [](const std::string& call) {
            return call.starts_with("cuStreamWaitEvent");
        });
    };
    ASSERT_FALSE(run(block));
    const auto first = waits();
    ASSERT_TRUE(run(block));
    EXPECT_EQ(waits(), first);
    EXPECT_GE(first, 3);
}

INSTANTIATE_TEST_SUITE_P(Frees, ResourceFreeBehindUsesFailures,
                         ::testing::ValuesIn(kFrees.begin() + 1, kFrees.end()), name_of);

class ResourceAllocationFailures : public ResourceTest {};

TEST_F(ResourceAllocationFailures, LeaveNothingBehind) {
    for (const StreamId stream : {kNoStream, kA}) {
        DirectCudaResource resource(CudaDevice(driver_.api), kDevice);
        for (int nth = 1;; ++nth) {
            driver_.fail_call(nth, CUDA_ERROR_OUT_OF_MEMORY);
            const auto block = resource.allocate(100, stream, AllocTag{});
            driver_.cancel_failure();
            if (block) {
                EXPECT_EQ(resource.bytes_outstanding(), 100U);
                break;
            }
            expect_failure(block, ResourceError::Driver, CUDA_ERROR_OUT_OF_MEMORY);
            EXPECT_EQ(resource.bytes_outstanding(), 0U);
        }
    }
}

TEST_F(ResourceAllocationFailures, OfAnEventRecordDestroyTheEvent) {
    const DeviceBlock block = allocate(kNoStream);
    touch(block, kA, Access::Write);
    driver_.fail_next("cuEventRecord", CUDA_ERROR_UNKNOWN);
    EXPECT_FALSE(resource_->prepare_block_use(BlockId(block), kB, Access::Read));
    EXPECT_EQ(driver_.live_events(), 0U);
}

TEST_F(ResourceAllocationFailures, OfAWaitKeepTheEvent) {
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
