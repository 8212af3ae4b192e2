// What tests of a direct resource share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/resource/direct_cuda_resource.hpp"
#include "tests/unit/scripted_driver.hpp"

namespace cuward::testing {

constexpr StreamId kA{10};
constexpr StreamId kB{20};
constexpr StreamId kC{30};
constexpr int kDevice = 0;

using Calls = std::vector<std::string>;

/// Asserts of every test that no driver object is used after its end or left behind.
class ResourceTest : public ::testing::Test {
  protected:
    void TearDown() override {
        resource_.reset();
        EXPECT_EQ(driver_.live_events(), 0U);
        EXPECT_EQ(driver_.violations(), 0);
    }

    void use_order(UseOrder* order) {
        resource_ = std::make_unique<DirectCudaResource>(CudaDevice(driver_.api, order), kDevice);
    }

    DeviceBlock allocate(StreamId stream, std::size_t bytes = 1000) {
        const auto block = resource_->allocate(bytes, stream, AllocTag{});
        EXPECT_TRUE(block.has_value());
        driver_.take_calls();
        return block.value_or(DeviceBlock{});
    }

    /// One access that has been queued, without a look at its waits.
    void touch(const DeviceBlock& block, StreamId stream, Access access) {
        EXPECT_TRUE(resource_->prepare_block_use(BlockId(block), stream, access));
        EXPECT_TRUE(resource_->finish_block_use(BlockId(block), stream, access));
        driver_.take_calls();
    }

    Calls prepare(const DeviceBlock& block, StreamId stream, Access access) {
        EXPECT_TRUE(resource_->prepare_block_use(BlockId(block), stream, access));
        return driver_.take_calls();
    }

    /// The calls that queue one wait, on an event that is new or has been used before.
    static Calls new_wait(const std::string& earlier, const std::string& later, int event = 1) {
        const std::string name = "e" + std::to_string(event);
        return {"cuCtxGetCurrent()", "cuStreamGetCtx(" + earlier + ")", "cuEventCreate()",
                "cuEventRecord(" + name + ", " + earlier + ")",
                "cuStreamWaitEvent(" + later + ", " + name + ")"};
    }
    static Calls wait(const std::string& earlier, const std::string& later, int event = 1) {
        Calls calls = new_wait(earlier, later, event);
        calls.erase(calls.begin() + 2);
        return calls;
    }

    static Calls joined(Calls first, const Calls& second) {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    }

    ScriptedDriver driver_;
    std::unique_ptr<DirectCudaResource> resource_ =
        std::make_unique<DirectCudaResource>(CudaDevice(driver_.api), kDevice);
};

template <typename T>
void expect_failure(const ResourceResult<T>& result, ResourceError error, CUresult driver_result) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().error, error);
    EXPECT_EQ(result.error().driver_result, driver_result);
}

}  // namespace cuward::testing
