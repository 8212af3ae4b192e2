#include <gtest/gtest.h>

#include "core/resource/device_memory_resource.hpp"
#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

/// Offers only what has no default.
class MinimalResource final : public DeviceMemoryResource {
  public:
    ResourceResult<DeviceBlock> allocate(std::size_t bytes, StreamId stream,
                                         AllocTag tag) override {
        return DeviceBlock{.ptr = 1, .alloc_stream = stream, .bytes = bytes, .tag = tag};
    }
    ResourceResult<void> deallocate(const DeviceBlock& /*block*/) override { return {}; }
    ResourceResult<void> deallocate_on(const DeviceBlock& /*block*/, StreamId /*stream*/) override {
        return {};
    }
    ResourceResult<void> deallocate_synchronously(const DeviceBlock& /*block*/) override {
        return {};
    }
    std::optional<DeviceBlock> find(Address /*address*/) const override { return std::nullopt; }
    ResourceResult<void> forget(const BlockId& /*block*/) override { return {}; }
    void forget_context(ContextId /*context*/) override {}
    int device_ordinal() const override { return kDevice; }
    std::size_t bytes_outstanding() const override { return 0; }
};

TEST(DeviceMemoryResource, RefusesUsesItDoesNotTrack) {
    MinimalResource resource;
    const BlockId block(resource.allocate(1, kA, AllocTag{}).value());
    EXPECT_FALSE(resource.supports_block_use_tracking());
    expect_failure(resource.record_block_use(block, kA), ResourceError::StreamMisuse,
                   CUDA_ERROR_NOT_SUPPORTED);
    expect_failure(resource.prepare_block_use(block, kA, Access::Read), ResourceError::StreamMisuse,
                   CUDA_ERROR_NOT_SUPPORTED);
    expect_failure(resource.finish_block_use(block, kA, Access::Read), ResourceError::StreamMisuse,
                   CUDA_ERROR_NOT_SUPPORTED);
}

TEST(DeviceMemoryResource, HasNothingToReap) {
    MinimalResource resource;
    resource.reap_pending();
    EXPECT_EQ(resource.bytes_outstanding(), 0U);
}

}  // namespace
}  // namespace cuward::testing
