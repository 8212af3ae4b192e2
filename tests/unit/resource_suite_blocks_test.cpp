// Life of blocks, whatever the stack: allocation, the three frees, identity.
#include "tests/unit/resource_suite.hpp"

namespace cuward::testing {
namespace {

using ::testing::IsEmpty;

template <typename Stack>
class ResourceSuiteBlocks : public ResourceSuite<Stack> {};
TYPED_TEST_SUITE(ResourceSuiteBlocks, Stacks, StackName);

TYPED_TEST(ResourceSuiteBlocks, AreDescribedAsAskedFor) {
    for (const StreamId stream : {kNoStream, kA}) {
        const auto block = this->resource().allocate(1000, stream, AllocTag{7});
        ASSERT_TRUE(block);
        EXPECT_NE(block->ptr, 0U);
        EXPECT_EQ(block->ptr % 256, 0U);
        EXPECT_EQ(block->align, 256U);
        EXPECT_EQ(block->bytes, 1000U);
        EXPECT_EQ(block->device_ordinal, kDevice);
        EXPECT_EQ(block->alloc_stream, stream);
        EXPECT_EQ(block->tag, AllocTag{7});
        EXPECT_EQ(block->state, BlockState::Live);
        EXPECT_TRUE(this->resource().deallocate(*block));
    }
    EXPECT_EQ(this->resource().device_ordinal(), kDevice);
}

TYPED_TEST(ResourceSuiteBlocks, AreGoneAfterEachKindOfFree) {
    const auto free_by = [&](int kind, const DeviceBlock& block) {
        return kind == 0   ? this->resource().deallocate(block)
               : kind == 1 ? this->resource().deallocate_on(block, kB)
                           : this->resource().deallocate_synchronously(block);
    };
    for (int kind = 0; kind < 3; ++kind) {
        for (const StreamId stream : {kNoStream, kA}) {
            const DeviceBlock block = this->allocate(stream);
            EXPECT_TRUE(this->is_live(block));
            ASSERT_TRUE(free_by(kind, block)) << kind;
            EXPECT_FALSE(this->resource().find(block.ptr));
            this->settle();
            EXPECT_EQ(this->resource().bytes_outstanding(), 0U) << kind;
        }
    }
}

TYPED_TEST(ResourceSuiteBlocks, OfZeroBytesAreAnErrorWithoutADriverCall) {
    for (const StreamId stream : {kNoStream, kA}) {
        expect_failure(this->resource().allocate(0, stream, AllocTag{}),
                       ResourceError::StreamMisuse, CUDA_ERROR_INVALID_VALUE);
    }
    EXPECT_THAT(this->driver().take_calls(), IsEmpty());
}

TYPED_TEST(ResourceSuiteBlocks, OfAnotherDeviceAreRefused) {
    const DeviceBlock mine = this->allocate(kNoStream);
    DeviceBlock block = mine;
    block.device_ordinal = 1;
    const BlockId id(block);
    this->driver().take_calls();
    DeviceMemoryResource& resource = this->resource();
    for (const ResourceResult<void>& result :
         {resource.deallocate(block), resource.deallocate_on(block, kA),
          resource.deallocate_synchronously(block), resource.forget(id),
          resource.record_block_use(id, kA), resource.prepare_block_use(id, kA, Access::Read),
          resource.finish_block_use(id, kA, Access::Read)}) {
        expect_failure(result, ResourceError::StreamMisuse, CUDA_ERROR_INVALID_DEVICE);
    }
    EXPECT_THAT(this->driver().take_calls(), IsEmpty());
    EXPECT_TRUE(this->is_live(mine));
    this->free_all({mine});
}

TYPED_TEST(ResourceSuiteBlocks, OfAnEarlierGenerationAreStale) {
    const DeviceBlock live = this->allocate(kA);
    DeviceBlock block = live;
    block.generation = Generation{static_cast<std::uint64_t>(live.generation) - 1};
    const BlockId id(block);
    this->driver().take_calls();
    DeviceMemoryResource& resource = this->resource();
    for (const ResourceResult<void>& result :
         {resource.deallocate(block), resource.deallocate_on(block, kA),
          resource.deallocate_synchronously(block), resource.forget(id),
          resource.record_block_use(id, kA), resource.prepare_block_use(id, kA, Access::Read),
          resource.finish_block_use(id, kA, Access::Write)}) {
        expect_failure(result, ResourceError::UseAfterFree, CUDA_ERROR_INVALID_VALUE);
    }
    EXPECT_THAT(this->driver().take_calls(), IsEmpty());
    EXPECT_TRUE(this->is_live(live));
    this->free_all({live});
}

TYPED_TEST(ResourceSuiteBlocks, AreStaleOnceFreed) {
    const DeviceBlock block = this->allocate(kNoStream);
    this->free_all({block});
    const BlockId id(block);
    DeviceMemoryResource& resource = this->resource();
    for (const ResourceResult<void>& result :
         {resource.deallocate(block), resource.deallocate_on(block, kA),
          resource.deallocate_synchronously(block), resource.forget(id),
          resource.record_block_use(id, kA), resource.prepare_block_use(id, kA, Access::Read),
          resource.finish_block_use(id, kA, Access::Write)}) {
        expect_failure(result, ResourceError::UseAfterFree, CUDA_ERROR_INVALID_VALUE);
    }
}

TYPED_TEST(ResourceSuiteBlocks, GetAGenerationOfTheirOwn) {
    const DeviceBlock first = this->allocate(kNoStream);
    const DeviceBlock second = this->allocate(kA);
    EXPECT_GT(second.generation, first.generation);
    this->free_all({first, second});
}

TYPED_TEST(ResourceSuiteBlocks, NeedAStreamToBeUsedOn) {
    const DeviceBlock block = this->allocate(kNoStream);
    const BlockId id(block);
    DeviceMemoryResource& resource = this->resource();
    for (const ResourceResult<void>& result :
         {resource.deallocate_on(block, kNoStream), resource.record_block_use(id, kNoStream),
          resource.prepare_block_use(id, kNoStream, Access::Read),
          resource.finish_block_use(id, kNoStream, Access::Read)}) {
        expect_failure(result, ResourceError::StreamMisuse, CUDA_ERROR_INVALID_HANDLE);
    }
    this->free_all({block});
}

TYPED_TEST(ResourceSuiteBlocks, AreFoundByTheirStart) {
    const DeviceBlock block = this->allocate(kA);
    const auto found = this->resource().find(block.ptr);
    ASSERT_TRUE(found);
    EXPECT_EQ(BlockId(*found), BlockId(block));
    EXPECT_EQ(found->bytes, block.bytes);
    EXPECT_FALSE(this->resource().find(block.ptr + 1));
    EXPECT_FALSE(this->resource().find(block.ptr - 1));
    this->free_all({block});
}

TYPED_TEST(ResourceSuiteBlocks, CountWhileTheyAreOutstanding) {
    EXPECT_EQ(this->resource().bytes_outstanding(), 0U);
    const DeviceBlock first = this->allocate(kNoStream, 100);
    const DeviceBlock second = this->allocate(kA, 23);
    EXPECT_EQ(this->resource().bytes_outstanding(), 123U);
    this->free_all({first});
    this->settle();
    EXPECT_EQ(this->resource().bytes_outstanding(), 23U);
    this->free_all({second});
}

// The driver notices a call for what has ended with the context.
TYPED_TEST(ResourceSuiteBlocks, AreForgottenWithTheirContext) {
    const DeviceBlock plain = this->allocate(kNoStream);
    const DeviceBlock ordered = this->allocate(kA);
    this->touch(plain, kB, Access::Write);
    this->driver().lose_context(kContext);
    EXPECT_TRUE(this->resource().forget(BlockId(plain)));
    EXPECT_TRUE(this->resource().forget(BlockId(ordered)));
    this->resource().forget_context(kContext);
    EXPECT_FALSE(this->resource().find(plain.ptr));
    EXPECT_FALSE(this->resource().find(ordered.ptr));
    EXPECT_EQ(this->resource().bytes_outstanding(), 0U);
    EXPECT_EQ(this->ground().account.current(), 0U);
}

TYPED_TEST(ResourceSuiteBlocks, FreedInAContextThatEndsAreDone) {
    const DeviceBlock block = this->allocate(kA);
    this->touch(block, kB, Access::Write);
    ASSERT_TRUE(this->resource().deallocate_on(block, kC));
    this->driver().lose_context(kContext);
    this->resource().forget_context(kContext);
    EXPECT_EQ(this->resource().bytes_outstanding(), 0U);
}

TYPED_TEST(ResourceSuiteBlocks, LetTheDriverCallBackFromEveryCall) {
    const DeviceBlock other = this->allocate(kNoStream);
    int callbacks = 0;
    this->driver().on_call([&] {
        ++callbacks;
        DeviceMemoryResource& resource = this->resource();
        EXPECT_TRUE(resource.find(other.ptr));
        EXPECT_TRUE(resource.prepare_block_use(BlockId(other), kC, Access::Write));
        EXPECT_TRUE(resource.finish_block_use(BlockId(other), kA, Access::Write));
        (void)resource.bytes_outstanding();
        resource.reap_pending();
    });
    for (const StreamId stream : {kNoStream, kA}) {
        const DeviceBlock block = this->allocate(stream);
        this->touch(block, kB, Access::Write);
        EXPECT_TRUE(this->resource().deallocate_on(block, kC));
    }
    this->settle();
    EXPECT_GT(callbacks, 10);
    this->driver().on_call(nullptr);
    this->free_all({other});
}

}  // namespace
}  // namespace cuward::testing
