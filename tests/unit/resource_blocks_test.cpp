// Life of blocks: both ways to allocate, their matching frees, and identities.
#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ResourceBlocks : public ResourceTest {};

TEST_F(ResourceBlocks, WithoutStreamGoesThroughMemAllocAndMemFree) {
    const auto block = resource_->allocate(1000, kNoStream, AllocTag{7});
    ASSERT_TRUE(block);
    EXPECT_EQ(block->ptr, 0x10000U);
    EXPECT_EQ(block->bytes, 1000U);
    EXPECT_EQ(block->align, 256U);
    EXPECT_EQ(block->device_ordinal, kDevice);
    EXPECT_EQ(block->alloc_stream, kNoStream);
    EXPECT_EQ(block->tag, AllocTag{7});
    EXPECT_EQ(block->state, BlockState::Live);
    EXPECT_TRUE(resource_->deallocate(*block));
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemAlloc(1000)", "cuMemFree(0x10000)"));
}

TEST_F(ResourceBlocks, OnAStreamGoesThroughThePoolFunctions) {
    use_order(&observed_order());
    const auto block = resource_->allocate(1000, kA, AllocTag{});
    ASSERT_TRUE(block);
    EXPECT_EQ(block->alloc_stream, kA);
    EXPECT_TRUE(resource_->deallocate(*block));
    EXPECT_THAT(driver_.take_calls(),
                ElementsAre("cuDeviceGet(0)", "cuDeviceGetAttribute(pools, 0)",
                            "cuMemAllocAsync(1000, s10)", "cuMemFreeAsync(0x10000, s10)"));
}

TEST_F(ResourceBlocks, AsksForPoolsOnce) {
    allocate(kA);
    ASSERT_TRUE(resource_->allocate(8, kB, AllocTag{}));
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemAllocAsync(8, s20)"));
}

TEST_F(ResourceBlocks, AsksForPoolsAgainWhenTheDriverCouldNotTell) {
    driver_.fail_next("cuDeviceGetAttribute", CUDA_ERROR_NOT_INITIALIZED);
    expect_failure(resource_->allocate(8, kA, AllocTag{}), ResourceError::Driver,
                   CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_TRUE(resource_->allocate(8, kA, AllocTag{}));
}

TEST_F(ResourceBlocks, WithoutPoolsAStreamIsServedByMemAlloc) {
    driver_.set_pools_supported(false);
    const auto block = resource_->allocate(1000, kA, AllocTag{});
    ASSERT_TRUE(block);
    EXPECT_EQ(block->alloc_stream, kA);
    EXPECT_TRUE(resource_->deallocate(*block));
    EXPECT_THAT(driver_.take_calls(),
                ElementsAre("cuDeviceGet(0)", "cuDeviceGetAttribute(pools, 0)", "cuMemAlloc(1000)",
                            "cuMemFree(0x10000)"));
}

TEST_F(ResourceBlocks, OnADriverOlderThanPoolsNothingIsAsked) {
    driver_.api.mem_alloc_async = nullptr;
    driver_.api.mem_free_async = nullptr;
    const auto block = resource_->allocate(1000, kA, AllocTag{});
    ASSERT_TRUE(block);
    EXPECT_TRUE(resource_->deallocate_on(*block, kB));
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemAlloc(1000)", "cuMemFree(0x10000)"));
}

TEST_F(ResourceBlocks, AFreeOnAStreamOfMemoryFromMemAllocIsLeftToTheDriver) {
    const DeviceBlock block = allocate(kNoStream);
    driver_.fail_next("cuMemFreeAsync", CUDA_ERROR_INVALID_VALUE);
    expect_failure(resource_->deallocate_on(block, kA), ResourceError::Driver,
                   CUDA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(resource_->find(block.ptr));
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemFreeAsync(0x10000, s10)"));
}

TEST_F(ResourceBlocks, AFreeOnAStreamNeedsADriverThatHasIt) {
    driver_.api.mem_alloc_async = nullptr;
    driver_.api.mem_free_async = nullptr;
    const DeviceBlock block = allocate(kNoStream);
    expect_failure(resource_->deallocate_on(block, kA), ResourceError::Driver,
                   CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_TRUE(resource_->find(block.ptr));
}

TEST_F(ResourceBlocks, AllocationFailureCarriesTheDriversResult) {
    driver_.fail_next("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY);
    expect_failure(resource_->allocate(1, kNoStream, AllocTag{}), ResourceError::Driver,
                   CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
}

TEST_F(ResourceBlocks, AReusedAddressIsANewGeneration) {
    const DeviceBlock old = allocate(kNoStream);
    ASSERT_TRUE(resource_->deallocate(old));
    driver_.next_address(old.ptr);
    const DeviceBlock block = allocate(kNoStream);
    ASSERT_EQ(block.ptr, old.ptr);
    EXPECT_GT(block.generation, old.generation);
    expect_failure(resource_->deallocate(old), ResourceError::UseAfterFree,
                   CUDA_ERROR_INVALID_VALUE);
    expect_failure(resource_->prepare_block_use(BlockId(old), kA, Access::Read),
                   ResourceError::UseAfterFree, CUDA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(resource_->deallocate(block));
}

TEST_F(ResourceBlocks, GenerationsAreUniqueOverDevices) {
    DirectCudaResource other(CudaDevice(driver_.api), 1);
    const DeviceBlock first = allocate(kNoStream);
    const auto second = other.allocate(1, kNoStream, AllocTag{});
    ASSERT_TRUE(second);
    EXPECT_GT(second->generation, first.generation);
}

TEST_F(ResourceBlocks, ForgettingMakesNoDriverCall) {
    const DeviceBlock block = allocate(kA);
    EXPECT_TRUE(resource_->forget(BlockId(block)));
    EXPECT_THAT(driver_.take_calls(), IsEmpty());
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
    EXPECT_FALSE(resource_->find(block.ptr));
}

TEST_F(ResourceBlocks, AnAddressGivenAgainReplacesABlockThatWentUnseen) {
    const DeviceBlock old = allocate(kNoStream, 300);
    driver_.api.mem_free(old.ptr);
    driver_.next_address(old.ptr);
    const DeviceBlock block = allocate(kNoStream, 200);
    EXPECT_EQ(resource_->bytes_outstanding(), 200U);
    expect_failure(resource_->forget(BlockId(old)), ResourceError::UseAfterFree,
                   CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(resource_->find(block.ptr)->generation, block.generation);
}

}  // namespace
}  // namespace cuward::testing
