// The guard over a direct resource, against the scripted driver, whose memory remembers what it is
// set to.
#include "core/resource/debug_guard_resource.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "core/resource/direct_cuda_resource.hpp"
#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kEdge = DebugGuardResource::kEdge;

class Reports final : public GuardReports {
  public:
    bool is_capturing() override { return capturing; }
    void written_out_of_bounds(const BlockId& block, Address first_bad) override {
        add("out of bounds", block, first_bad);
    }
    void written_after_free(const BlockId& block, Address first_bad) override {
        add("after free", block, first_bad);
    }
    void note(std::string_view line) override {
        const std::lock_guard lock(mutex_);
        found_.emplace_back(line);
    }
    std::vector<std::string> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(found_, {});
    }

    std::atomic<bool> capturing{false};

  private:
    void add(const std::string& what, const BlockId& block, Address first_bad) {
        const std::lock_guard lock(mutex_);
        found_.push_back(what + " " +
                         std::to_string(static_cast<long long>(first_bad - block.ptr)));
    }

    std::mutex mutex_;
    std::vector<std::string> found_;
};

class GuardTest : public ::testing::Test {
  protected:
    void TearDown() override {
        guard_.reset();
        EXPECT_EQ(driver_.live_events(), 0U);
        EXPECT_EQ(driver_.live_streams(), 0U);
        EXPECT_EQ(driver_.live_modules() + driver_.live_host_memory(), 0U);
        EXPECT_EQ(driver_.violations(), 0);
    }

    void make(const GuardOptions& options) {
        const CudaDevice device(driver_.api, order_);
        guard_.reset();
        guard_ = std::make_unique<DebugGuardResource>(
            std::make_unique<DirectCudaResource>(device, kDevice), device, options, reports_);
    }

    DeviceBlock allocate(std::size_t bytes = 1000, StreamId stream = kNoStream) {
        const auto block = guard_->allocate(bytes, stream, AllocTag{});
        EXPECT_TRUE(block.has_value());
        driver_.take_calls();
        return block.value_or(DeviceBlock{});
    }
    void free(const DeviceBlock& block) { EXPECT_TRUE(guard_->deallocate_synchronously(block)); }
    void free_on(const DeviceBlock& block, StreamId stream) {
        EXPECT_TRUE(guard_->deallocate_on(block, stream));
    }

    ScriptedDriver driver_;
    Reports reports_;
    UseOrder* order_ = &observed_order();
    std::unique_ptr<DebugGuardResource> guard_;

    GuardTest() { make({.quarantine_bytes = 1 << 20}); }
};

TEST_F(GuardTest, HandsOutTheMiddleOfALargerAllocation) {
    for (const std::size_t bytes : {1, 511, 512, 1000, 4096, 100000}) {
        const auto block = guard_->allocate(bytes, kNoStream, AllocTag{7});
        ASSERT_TRUE(block);
        EXPECT_EQ(block->bytes, bytes);
        EXPECT_EQ(block->tag, AllocTag{7});
        EXPECT_EQ(block->ptr % 512, 0U);
        const std::size_t total = (2 * kEdge + bytes + 511) / 512 * 512;
        EXPECT_EQ(driver_.take_calls().front(), "cuMemAlloc(" + std::to_string(total) + ")");
        EXPECT_EQ(driver_.peek(block->ptr - kEdge), DebugGuardResource::kCanary);
        EXPECT_EQ(driver_.peek(block->ptr - 1), DebugGuardResource::kCanary);
        EXPECT_EQ(driver_.peek(block->ptr), DebugGuardResource::kFresh);
        EXPECT_EQ(driver_.peek(block->ptr + bytes - 1), DebugGuardResource::kFresh);
        EXPECT_EQ(driver_.peek(block->ptr + bytes), DebugGuardResource::kCanary);
        EXPECT_EQ(driver_.peek(block->ptr - kEdge + total - 1), DebugGuardResource::kCanary);
    }
}

TEST_F(GuardTest, LeavesTheStartAloneWhereThatIsAskedFor) {
    make({.quarantine_bytes = 1 << 20, .guards_front = false});
    driver_.next_address(0x500000);
    const DeviceBlock block = allocate();
    EXPECT_EQ(block.ptr, 0x500000U);
    driver_.poke(block.ptr + 1000, 1);
    free(block);
    EXPECT_THAT(reports_.take(), ElementsAre("out of bounds 1000"));
}

TEST_F(GuardTest, HidesWhatTheDriverWouldFreeAndTheProgramDoesNotHave) {
    const DeviceBlock block = allocate();
    EXPECT_FALSE(guard_->hides(block.ptr));
    EXPECT_TRUE(guard_->hides(block.ptr - kEdge));
    EXPECT_FALSE(guard_->hides(block.ptr + 1));
    free(block);  // held back
    EXPECT_TRUE(guard_->hides(block.ptr - kEdge));

    make({.quarantine_bytes = 1 << 20, .guards_front = false});
    const DeviceBlock at_start = allocate();
    EXPECT_FALSE(guard_->hides(at_start.ptr));
    free(at_start);
    EXPECT_TRUE(guard_->hides(at_start.ptr));
}

TEST_F(GuardTest, FillsMemoryOfAStreamInTheOrderOfThatStream) {
    allocate();
    ASSERT_TRUE(guard_->allocate(1000, kA, AllocTag{}));
    EXPECT_THAT(
        driver_.take_calls(),
        ElementsAre("cuDeviceGet(0)", "cuDeviceGetAttribute(pools, 0)",
                    "cuMemAllocAsync(9216, s10)", "cuStreamGetCtx(s10)", "cuCtxGetCurrent()",
                    ::testing::MatchesRegex("cuMemsetD8Async\\(.*, 167, 4096, s10\\)"),
                    ::testing::MatchesRegex("cuMemsetD8Async\\(.*, 203, 1000, s10\\)"),
                    ::testing::MatchesRegex("cuMemsetD8Async\\(.*, 167, 4120, s10\\)"),
                    "cuEventCreate()", "cuEventRecord(e1, s10)"));
}

TEST_F(GuardTest, AFreeWaitsForTheDeviceBeforeItChecks) {
    const DeviceBlock block = allocate();
    free(block);
    EXPECT_THAT(driver_.take_calls(),
                ElementsAre("cuCtxGetCurrent()", "cuCtxSynchronize()", "cuMemHostAlloc(65536)",
                            "cuLaunchKernel(2 regions, s501)",
                            ::testing::MatchesRegex("cuMemsetD8Async\\(.*, 223, 9216, s501\\)"),
                            "cuStreamSynchronize(s501)"));
    EXPECT_EQ(driver_.live_allocations(), 1U) << "held back";
    EXPECT_EQ(guard_->bytes_outstanding(), 0U);
    EXPECT_FALSE(guard_->find(block.ptr));
    expect_failure(guard_->deallocate(block), ResourceError::UseAfterFree,
                   CUDA_ERROR_INVALID_VALUE);
    EXPECT_THAT(reports_.take(), IsEmpty());
}

TEST_F(GuardTest, FindsTheFirstByteWrittenOnEitherSide) {
    struct {
        long long offset;
        const char* found;
    } const cases[] = {{1000, "out of bounds 1000"},
                       {1000 + 4095, "out of bounds 5095"},
                       {-1, "out of bounds -1"},
                       {-4096, "out of bounds -4096"}};
    for (const auto& test : cases) {
        const DeviceBlock block = allocate();
        driver_.poke(block.ptr + static_cast<Address>(test.offset), 1);
        free(block);
        EXPECT_THAT(reports_.take(), ElementsAre(test.found));
    }
}

TEST_F(GuardTest, ReportsABlockOnceAndOnlyWhatIsOutside) {
    const DeviceBlock inside = allocate();
    driver_.poke(inside.ptr, 1);
    driver_.poke(inside.ptr + 999, 1);
    free(inside);
    EXPECT_THAT(reports_.take(), IsEmpty());
    const DeviceBlock block = allocate();
    driver_.poke(block.ptr - 1, 1);
    driver_.poke(block.ptr + 1000, 1);
    guard_->check_all();
    guard_->check_all();
    free(block);
    EXPECT_THAT(reports_.take(), ElementsAre("out of bounds -1"));
}

TEST_F(GuardTest, ReleasesTheOldestFirstAndLooksAtItsPoison) {
    make({.quarantine_bytes = 2 * 9216});
    std::vector<DeviceBlock> blocks;
    for (int i = 0; i < 3; ++i) {
        blocks.push_back(allocate());
    }
    for (const DeviceBlock& block : blocks) {
        free(block);
    }
    EXPECT_EQ(driver_.live_allocations(), 2U);
    EXPECT_THAT(driver_.take_calls(), ::testing::Contains(::testing::StrEq([&] {
                    std::array<char, 32> text{};
                    (void)std::snprintf(text.data(), text.size(), "cuMemFree(0x%llx)",
                                        static_cast<unsigned long long>(blocks[0].ptr - kEdge));
                    return std::string(text.data());
                }())));
    driver_.poke(blocks[1].ptr + 5, 1);
    free(allocate());
    EXPECT_THAT(reports_.take(), ElementsAre("after free 5"));
}

TEST_F(GuardTest, WithoutRoomABlockIsCheckedAndGoesAtOnce) {
    make({.quarantine_bytes = 9215});
    const DeviceBlock block = allocate();
    driver_.poke(block.ptr + 1000, 1);
    free(block);
    EXPECT_EQ(driver_.live_allocations(), 0U);
    EXPECT_THAT(reports_.take(), ElementsAre("out of bounds 1000"));
}

TEST_F(GuardTest, ChecksWhatIsHeldBackOnDemandOnce) {
    const DeviceBlock block = allocate();
    free(block);
    guard_->check_all();
    EXPECT_THAT(reports_.take(), IsEmpty());
    driver_.poke(block.ptr + 999, 1);
    guard_->check_all();
    guard_->check_all();
    EXPECT_THAT(reports_.take(), ElementsAre("after free 999"));
}

TEST_F(GuardTest, AFreeOnAStreamQueuesItsCheckAndLooksLater) {
    const DeviceBlock block = allocate(1000, kA);
    driver_.poke(block.ptr + 1001, 1);
    free_on(block, kB);
    EXPECT_THAT(driver_.take_calls(),
                ElementsAre("cuCtxGetCurrent()", "cuStreamGetCtx(s20)", "cuMemHostAlloc(65536)",
                            "cuLaunchKernel(2 regions, s20)",
                            ::testing::MatchesRegex("cuMemsetD8Async\\(.*, 223, 9216, s20\\)"),
                            "cuEventCreate()", "cuEventRecord(e2, s20)"));
    EXPECT_THAT(reports_.take(), IsEmpty());
    guard_->reap_pending();
    EXPECT_THAT(reports_.take(), IsEmpty()) << "not complete";
    driver_.complete_everything();
    guard_->reap_pending();
    EXPECT_THAT(reports_.take(), ElementsAre("out of bounds 1001"));
    EXPECT_EQ(driver_.live_allocations(), 1U);
}

TEST_F(GuardTest, AFreeOnAStreamNeverWaits) {
    make({.quarantine_bytes = 9216});
    const DeviceBlock direct = allocate();
    free(direct);
    const DeviceBlock first = allocate(1000, kA);
    free_on(first, kA);
    for (const std::string& call : driver_.take_calls()) {
        EXPECT_THAT(call, ::testing::Not(::testing::HasSubstr("Synchronize")));
        EXPECT_THAT(call, ::testing::Not(::testing::HasSubstr("cuMemFree(")));
    }
    EXPECT_EQ(driver_.live_allocations(), 1U) << "there was no room without waiting";
}

TEST_F(GuardTest, ReleasesStreamOrderedMemoryOnAStreamOfItsOwn) {
    make({.quarantine_bytes = 9216});
    driver_.complete_everything();
    const DeviceBlock first = allocate(1000, kA);
    free_on(first, kA);
    const DeviceBlock second = allocate(1000, kA);
    free_on(second, kA);
    EXPECT_THAT(driver_.take_calls(),
                ::testing::Contains(::testing::MatchesRegex("cuMemFreeAsync\\(.*, s50.\\)")));
    EXPECT_EQ(driver_.live_allocations(), 1U);
}

TEST_F(GuardTest, GivesUpWhatItHoldsBeforeMemoryIsRefused) {
    driver_.set_free_bytes(3 * 9216);
    const DeviceBlock kept = allocate();
    free(allocate());
    free(allocate());
    const DeviceBlock large = allocate(5000);
    EXPECT_EQ(driver_.live_allocations(), 2U);
    free(kept);
    free(large);
}

TEST_F(GuardTest, WhatDoesNotFitWithItsEdgesComesWithout) {
    driver_.set_free_bytes(5000);
    const DeviceBlock block = allocate(5000);
    EXPECT_EQ(block.bytes, 5000U);
    guard_->check_all();
    expect_failure(guard_->allocate(1, kNoStream, AllocTag{}), ResourceError::Driver,
                   CUDA_ERROR_OUT_OF_MEMORY);
    free(block);
    EXPECT_EQ(driver_.live_allocations(), 0U);
}

TEST_F(GuardTest, KeepsOutOfCaptures) {
    const DeviceBlock before = allocate();
    reports_.capturing = true;
    const auto during = guard_->allocate(1000, kNoStream, AllocTag{});
    ASSERT_TRUE(during);
    guard_->check_all();
    guard_->reap_pending();
    free(before);
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemAlloc(9216)", "cuCtxGetCurrent()",
                                                  ::testing::StartsWith("cuMemFree(")));
    reports_.capturing = false;
    guard_->check_all();
    free(*during);
    EXPECT_THAT(reports_.take(), IsEmpty()) << "it has no canaries to be broken";
}

TEST_F(GuardTest, WithoutTheKernelItSaysSoOnceAndTheProgramGoesOn) {
    driver_.fail_next("cuModuleLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU);
    const DeviceBlock block = allocate();
    driver_.poke(block.ptr - 1, 1);
    free(block);
    guard_->check_all();
    const auto said = reports_.take();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_THAT(said[0], ::testing::HasSubstr("not checked"));
}

TEST_F(GuardTest, TranslatesUses) {
    const DeviceBlock block = allocate();
    const BlockId id(block);
    EXPECT_TRUE(guard_->supports_block_use_tracking());
    EXPECT_TRUE(guard_->record_block_use(id, kA));
    EXPECT_TRUE(guard_->prepare_block_use(id, kA, Access::Write));
    EXPECT_TRUE(guard_->finish_block_use(id, kA, Access::Write));
    EXPECT_EQ(BlockId(guard_->find(block.ptr).value_or(DeviceBlock{})), id);
    EXPECT_EQ(guard_->bytes_outstanding(), 1000U);
    free(block);
    expect_failure(guard_->prepare_block_use(id, kA, Access::Write), ResourceError::UseAfterFree,
                   CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GuardTest, AContextThatEndsIsCheckedAndEmptiedFirst) {
    const DeviceBlock held = allocate();
    const DeviceBlock live = allocate();
    free(held);
    driver_.poke(held.ptr, 1);
    driver_.poke(live.ptr - 1, 1);
    guard_->context_ending(kContext);
    EXPECT_THAT(reports_.take(), ElementsAre("out of bounds -1", "after free 0"));
    EXPECT_EQ(driver_.live_allocations(), 1U);
    EXPECT_TRUE(guard_->forget(BlockId(live)));
    EXPECT_EQ(guard_->bytes_outstanding(), 0U);
}

TEST_F(GuardTest, AnyCallThatFailsLosesAndFreesNothingTwice) {
    for (const StreamId stream : {kNoStream, kA}) {
        for (int nth = 1; nth < 40; ++nth) {
            make({.quarantine_bytes = 9216});
            driver_.complete_everything();
            std::vector<DeviceBlock> live;
            std::size_t expected = 0;
            driver_.fail_call(nth, CUDA_ERROR_LAUNCH_FAILED);
            for (int i = 0; i < 4; ++i) {
                if (const auto block = guard_->allocate(1000, stream, AllocTag{})) {
                    live.push_back(*block);
                }
            }
            for (const DeviceBlock& block : live) {
                const auto freed = stream == kNoStream ? guard_->deallocate_synchronously(block)
                                                       : guard_->deallocate_on(block, stream);
                expected += freed ? 0 : block.bytes;
            }
            EXPECT_EQ(guard_->bytes_outstanding(), expected);
            driver_.cancel_failure();
            for (const DeviceBlock& block : live) {
                const auto again = guard_->deallocate_synchronously(block);
                EXPECT_EQ(again.has_value(), expected > 0 && again.has_value());
            }
            guard_.reset();
            EXPECT_EQ(driver_.live_allocations(), 0U) << nth;
        }
    }
}

TEST_F(GuardTest, ManyThreadsWhileEverythingIsChecked) {
    make({.quarantine_bytes = 20 * 9216});
    driver_.stop_recording();
    driver_.complete_everything();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            const StreamId stream{static_cast<std::uint64_t>(100 + t)};
            for (int i = 0; i < 200; ++i) {
                const auto block = guard_->allocate(64, i % 2 == 0 ? kNoStream : stream, {});
                ASSERT_TRUE(block);
                ASSERT_TRUE(i % 2 == 0 ? guard_->deallocate_synchronously(*block)
                                       : guard_->deallocate_on(*block, stream));
            }
        });
    }
    threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
            guard_->check_all();
        }
    });
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_THAT(reports_.take(), IsEmpty());
    EXPECT_EQ(guard_->bytes_outstanding(), 0U);
    guard_.reset();
    EXPECT_EQ(driver_.live_allocations(), 0U);
}

}  // namespace
}  // namespace cuward::testing
