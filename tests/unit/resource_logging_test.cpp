// What is written down of each call of a resource.
#include "core/resource/logging_resource.hpp"
#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

class Notebook final : public ResourceLog {
  public:
    void memory(const MemoryOperation& operation) override { operations.push_back(operation); }
    std::vector<MemoryOperation> operations;
};

class ResourceLogging : public ::testing::Test {
  protected:
    const MemoryOperation& last() const { return notebook_.operations.back(); }

    void expect_last(MemoryOperationKind kind, const DeviceBlock& block, StreamId stream,
                     std::size_t outstanding) {
        EXPECT_EQ(last().kind, kind);
        EXPECT_EQ(BlockId(last().block), BlockId(block));
        EXPECT_EQ(last().block.bytes, block.bytes);
        EXPECT_EQ(last().block.tag, block.tag);
        EXPECT_EQ(last().stream, stream);
        EXPECT_EQ(last().outstanding, outstanding);
        EXPECT_TRUE(last().result);
    }
    /// What callers hand in: the block's name alone.
    static DeviceBlock named(const DeviceBlock& block) {
        return {.ptr = block.ptr,
                .device_ordinal = block.device_ordinal,
                .alloc_stream = block.alloc_stream,
                .generation = block.generation};
    }

    ScriptedDriver driver_;
    Notebook notebook_;
    LoggingResource resource_{
        std::make_unique<DirectCudaResource>(CudaDevice(driver_.api, &observed_order()), kDevice),
        notebook_};
};

TEST_F(ResourceLogging, HasEveryAllocationAndFree) {
    const auto plain = resource_.allocate(100, kNoStream, AllocTag{3});
    ASSERT_TRUE(plain);
    expect_last(MemoryOperationKind::Allocate, *plain, kNoStream, 100);
    const auto ordered = resource_.allocate(50, kA, AllocTag{4});
    ASSERT_TRUE(ordered);
    expect_last(MemoryOperationKind::Allocate, *ordered, kA, 150);
    const auto other = resource_.allocate(7, kA, AllocTag{5});
    ASSERT_TRUE(other);

    ASSERT_TRUE(resource_.deallocate(named(*ordered)));
    expect_last(MemoryOperationKind::Free, *ordered, kA, 107);
    ASSERT_TRUE(resource_.deallocate_on(named(*other), kB));
    expect_last(MemoryOperationKind::Free, *other, kB, 100);
    ASSERT_TRUE(resource_.deallocate_synchronously(named(*plain)));
    expect_last(MemoryOperationKind::Free, *plain, kNoStream, 0);
    EXPECT_EQ(notebook_.operations.size(), 6U);
}

TEST_F(ResourceLogging, SaysThatAContextTookABlock) {
    const auto block = resource_.allocate(100, kNoStream, AllocTag{3});
    ASSERT_TRUE(block);
    ASSERT_TRUE(resource_.forget(BlockId(*block)));
    expect_last(MemoryOperationKind::Forget, *block, kNoStream, 0);
}

TEST_F(ResourceLogging, SaysWhyACallFailed) {
    driver_.fail_next("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY);
    ASSERT_FALSE(resource_.allocate(100, kNoStream, AllocTag{3}));
    EXPECT_EQ(last().block.bytes, 100U);
    EXPECT_EQ(last().block.ptr, 0U);
    EXPECT_EQ(last().block.device_ordinal, kDevice);
    expect_failure(last().result, ResourceError::Driver, CUDA_ERROR_OUT_OF_MEMORY);

    ASSERT_FALSE(resource_.deallocate({.ptr = 0x99, .device_ordinal = kDevice}));
    EXPECT_EQ(last().block.ptr, 0x99U);
    expect_failure(last().result, ResourceError::UseAfterFree, CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ResourceLogging, UsesAreNotWrittenDown) {
    const auto block = resource_.allocate(100, kNoStream, AllocTag{});
    ASSERT_TRUE(resource_.prepare_block_use(BlockId(*block), kA, Access::Read));
    ASSERT_TRUE(resource_.finish_block_use(BlockId(*block), kA, Access::Read));
    EXPECT_EQ(notebook_.operations.size(), 1U);
    ASSERT_TRUE(resource_.deallocate(*block));
}

}  // namespace
}  // namespace cuward::testing
