// Ordinary memory from a pool: which driver calls are made in which order, and that a block is used
// anew only behind everything that was unfinished when it was freed.
#include <algorithm>
#include <thread>

#include "core/resource/async_cuda_resource.hpp"
#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t kLarge = RetiredBlocks::kMostBytes;  // freed at once

/// Knows what a test says is unfinished.
class UnfinishedWork final : public UseOrder {
  public:
    UsePoint point(StreamId stream) override {
        return {.stream = stream, .context = kContext, .lane = static_cast<std::uint64_t>(stream)};
    }
    bool provided(const UsePoint& /*earlier*/, const UsePoint& /*later*/) override { return true; }
    std::uint64_t event_behind(const UsePoint& use) override {
        return use.stream == with_event ? event : 0;
    }
    void for_each_unfinished(const std::function<void(const UsePoint&)>& visit) override {
        for (const StreamId stream : unfinished) {
            visit(point(stream));
        }
    }
    bool sees_all_work() const override { return sees_work; }
    bool is_capturing() const override { return capturing; }
    bool observes_only() const override { return true; }

    std::vector<StreamId> unfinished;
    StreamId with_event = kNoStream;
    std::uint64_t event = 0;
    bool sees_work = true;
    bool capturing = false;
};

class AsyncResource : public ::testing::Test {
  protected:
    void TearDown() override {
        resource_.reset();
        EXPECT_EQ(driver_.live_events(), 0U);
        EXPECT_EQ(driver_.live_streams(), 0U);
        EXPECT_EQ(driver_.live_pools(), 0U);
        EXPECT_EQ(driver_.violations(), 0);
    }

    DeviceBlock allocate(std::size_t bytes = 1000, StreamId stream = kNoStream) {
        const auto block = resource_->allocate(bytes, stream, AllocTag{7});
        EXPECT_TRUE(block.has_value());
        driver_.take_calls();
        return block.value_or(DeviceBlock{});
    }
    Calls free(const DeviceBlock& block) {
        driver_.take_calls();
        EXPECT_TRUE(resource_->deallocate_synchronously(block));
        return driver_.take_calls();
    }
    Calls reap() {
        driver_.take_calls();
        resource_->reap_pending();
        return driver_.take_calls();
    }
    /// What is kept for requests of the same size goes back as well.
    void release_all() { resource_->release_unused(AsyncCudaResource::Wait::Never); }
    /// Blocks of a full batch, freed but for the last.
    DeviceBlock nearly_due() {
        for (std::size_t i = 1; i < RetiredBlocks::kMostBlocks; ++i) {
            free(allocate());
        }
        return allocate();
    }

    ScriptedDriver driver_;
    UnfinishedWork order_;
    CUdeviceptr address_ = 0;
    std::unique_ptr<AsyncCudaResource> resource_ =
        std::make_unique<AsyncCudaResource>(CudaDevice(driver_.api, &order_), kDevice);
};

TEST_F(AsyncResource, MakesItsPoolAtTheFirstRequest) {
    EXPECT_THAT(driver_.take_calls(), IsEmpty());
    EXPECT_TRUE(resource_->allocate(1000, kNoStream, AllocTag{}));
    EXPECT_THAT(driver_.take_calls(),
                ElementsAre("cuDeviceGet(0)", "cuDeviceGetAttribute(pools, 0)",
                            "cuMemPoolCreate(0)", "cuMemPoolSetAttribute(4, -1)",
                            "cuMemPoolSetAttribute(1, 0)", "cuMemPoolSetAttribute(3, 0)",
                            "cuCtxGetCurrent()", "cuStreamCreate()", "cuStreamCreate()",
                            "cuMemAllocFromPoolAsync(1000, s501)", "cuStreamSynchronize(s501)"));
}

TEST_F(AsyncResource, HandsOutMemoryThatIsUsableAtOnce) {
    allocate();
    EXPECT_TRUE(resource_->allocate(2000, kNoStream, AllocTag{}));
    EXPECT_THAT(driver_.take_calls(),
                ElementsAre("cuCtxGetCurrent()", "cuMemAllocFromPoolAsync(2000, s501)",
                            "cuStreamSynchronize(s501)"));
}

TEST_F(AsyncResource, DescribesItsBlocks) {
    const DeviceBlock block = allocate();
    EXPECT_EQ(block.bytes, 1000U);
    EXPECT_EQ(block.alloc_stream, kNoStream);
    EXPECT_EQ(block.tag, AllocTag{7});
    EXPECT_FALSE(block.free_waits_for_device);
    EXPECT_EQ(BlockId(*resource_->find(block.ptr)), BlockId(block));
    EXPECT_EQ(resource_->bytes_outstanding(), 1000U);
}

TEST_F(AsyncResource, FreesBehindAllUnfinishedWork) {
    const DeviceBlock block = allocate(kLarge);
    order_.unfinished = {kA, kB};
    EXPECT_THAT(free(block),
                ElementsAre("cuCtxGetCurrent()", "cuCtxGetCurrent()", "cuEventCreate()",
                            "cuEventRecord(e1, s10)", "cuStreamWaitEvent(s502, e1)",
                            "cuCtxGetCurrent()", "cuEventRecord(e1, s20)",
                            "cuStreamWaitEvent(s502, e1)", "cuMemFreeAsync(0x10000, s502)",
                            "cuCtxGetCurrent()", "cuEventRecord(e1, s502)"));
}

TEST_F(AsyncResource, QueuesNoWaitOnTheStreamsOfTheProgram) {
    order_.unfinished = {kA, kB};
    Calls calls = free(allocate(kLarge));
    std::erase_if(calls, [](const std::string& call) {
        return !call.starts_with("cuStreamWaitEvent") && !call.starts_with("cuMemFree");
    });
    EXPECT_THAT(calls, Each(HasSubstr("s502")));
}

TEST_F(AsyncResource, WaitsForTheEventThatIsThereAlready) {
    driver_.api.event_create(reinterpret_cast<CUevent*>(&order_.event), CU_EVENT_DISABLE_TIMING);
    order_.unfinished = {kA};
    order_.with_event = kA;
    EXPECT_THAT(free(allocate(kLarge)),
                AllOf(Contains("cuStreamWaitEvent(s502, e1)"), Not(Contains(HasSubstr("s10")))));
    driver_.api.event_destroy(reinterpret_cast<CUevent>(order_.event));
}

TEST_F(AsyncResource, WithoutAnOrderWaitsForTheRecordedUses) {
    resource_ = std::make_unique<AsyncCudaResource>(CudaDevice(driver_.api), kDevice);
    const DeviceBlock block = allocate(kLarge);
    EXPECT_TRUE(resource_->prepare_block_use(BlockId(block), kA, Access::Write));
    EXPECT_TRUE(resource_->finish_block_use(BlockId(block), kA, Access::Write));
    EXPECT_TRUE(resource_->record_block_use(BlockId(block), kB));
    EXPECT_THAT(free(block), AllOf(Contains(HasSubstr(", s10)")), Contains(HasSubstr(", s20)")),
                                   Contains(StartsWith("cuMemFreeAsync"))));
}

TEST_F(AsyncResource, CollectsSmallBlocks) {
    order_.unfinished = {kA};
    const DeviceBlock last = nearly_due();
    EXPECT_EQ(driver_.live_allocations(), RetiredBlocks::kMostBlocks);
    const Calls calls = free(last);
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuEventRecord(e1, s10)"), 1);
    EXPECT_THAT(calls, Not(Contains(HasSubstr("cuMemFree"))));
    release_all();
    EXPECT_EQ(driver_.live_allocations(), 0U);
}

TEST_F(AsyncResource, KeepsBlocksForRequestsOfTheirSize) {
    order_.unfinished = {kA};
    const DeviceBlock last = nearly_due();
    free(last);
    EXPECT_NE(allocate().ptr, last.ptr);  // the device is not done with it
    driver_.complete_everything();
    EXPECT_NE(allocate(1001).ptr, last.ptr);  // the driver would still take it for 1000 bytes
    const auto again = resource_->allocate(1000, kNoStream, AllocTag{});
    EXPECT_EQ(again->ptr, last.ptr);
    EXPECT_NE(again->generation, last.generation);
    EXPECT_THAT(driver_.take_calls(), IsEmpty());
}

TEST_F(AsyncResource, KeepsNoMoreThanThereWasInUseAtATime) {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    driver_.complete_everything();
    for (std::size_t size = 1; size < 16; ++size) {  // 120 MiB, one after the other
        free(allocate(size * kMiB));
        reap();
    }
    EXPECT_LE(driver_.live_allocations(), 12U);
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
}

TEST_F(AsyncResource, AFreeCostsNoDriverCallButOneQuestion) {
    const DeviceBlock block = allocate();
    EXPECT_THAT(free(block), ElementsAre("cuCtxGetCurrent()"));
    EXPECT_FALSE(resource_->find(block.ptr));
}

TEST_F(AsyncResource, CountsABlockUntilItsFreeHasBeenExecuted) {
    free(allocate(1000));
    free(allocate(500));
    EXPECT_EQ(resource_->bytes_outstanding(), 1500U);
    reap();
    EXPECT_EQ(resource_->bytes_outstanding(), 1500U);
    driver_.complete_everything();
    reap();
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
}

TEST_F(AsyncResource, RefusesASecondFree) {
    const DeviceBlock block = allocate();
    free(block);
    expect_failure(resource_->deallocate_synchronously(block), ResourceError::UseAfterFree,
                   CUDA_ERROR_INVALID_VALUE);
}

TEST_F(AsyncResource, KnowsWhatTheDriverHasNotFreedYet) {
    const DeviceBlock block = allocate();
    EXPECT_FALSE(resource_->hides(block.ptr));
    free(block);
    EXPECT_TRUE(resource_->hides(block.ptr));
    reap();
    EXPECT_TRUE(resource_->hides(block.ptr));
    release_all();
    EXPECT_FALSE(resource_->hides(block.ptr));
}

TEST_F(AsyncResource, DoesNotFreeAgainWhatTheDriverDoesNotKnow) {
    const DeviceBlock block = allocate(kLarge);
    driver_.fail_next("cuMemFreeAsync", CUDA_ERROR_INVALID_VALUE);
    free(block);
    EXPECT_THAT(reap(), Not(Contains(HasSubstr("cuMemFreeAsync"))));
}

TEST_F(AsyncResource, RefusesWithoutAContextLikeTheDriver) {
    const DeviceBlock block = allocate();
    driver_.set_context(0);
    expect_failure(resource_->deallocate_synchronously(block), ResourceError::Driver,
                   CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_TRUE(resource_->find(block.ptr));
}

TEST_F(AsyncResource, FreesOnAStreamOfTheCallersChoice) {
    const DeviceBlock block = allocate();
    EXPECT_TRUE(resource_->deallocate_on(block, kA));
    EXPECT_THAT(driver_.take_calls(), Contains("cuMemFreeAsync(0x10000, s10)"));
    EXPECT_EQ(resource_->unused_bytes(), 1000U);
}

TEST_F(AsyncResource, ServesStreamOrderedRequestsFromTheDriversPool) {
    const DeviceBlock block = allocate(1000, kA);
    EXPECT_EQ(driver_.live_pools(), 0U);
    EXPECT_THAT(free(block), Contains("cuMemFree(0x10000)"));
}

TEST_F(AsyncResource, ZeroBytesAreAMisuse) {
    expect_failure(resource_->allocate(0, kNoStream, AllocTag{}), ResourceError::StreamMisuse,
                   CUDA_ERROR_INVALID_VALUE);
}

// When a pool cannot serve

TEST_F(AsyncResource, ServesDirectlyOnADeviceWithoutPools) {
    driver_.set_pools_supported(false);
    const DeviceBlock block = allocate();
    EXPECT_TRUE(block.free_waits_for_device);
    EXPECT_EQ(driver_.live_pools(), 0U);
    EXPECT_THAT(free(block), ElementsAre("cuMemFree(0x10000)"));
}

TEST_F(AsyncResource, ServesDirectlyWithADriverWithoutPools) {
    driver_.api.mem_pool_create = nullptr;
    EXPECT_TRUE(allocate().free_waits_for_device);
}

TEST_F(AsyncResource, ServesDirectlyWhenToldTo) {
    const DeviceBlock before = allocate();
    resource_->serve_directly();
    EXPECT_TRUE(allocate().free_waits_for_device);
    EXPECT_THAT(free(before), Not(Contains(HasSubstr("cuMemFree"))));
}

TEST_F(AsyncResource, DuringACaptureTheDriverAnswersAllocations) {
    order_.capturing = true;
    EXPECT_TRUE(allocate().free_waits_for_device);
    driver_.fail_next("cuMemAlloc", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_failure(resource_->allocate(1000, kNoStream, AllocTag{}), ResourceError::Driver,
                   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(AsyncResource, DuringACaptureFreesArePutOff) {
    const DeviceBlock block = allocate(kLarge);
    order_.capturing = true;
    EXPECT_THAT(free(block), ElementsAre("cuCtxGetCurrent()"));
    EXPECT_THAT(reap(), ElementsAre("cuCtxGetCurrent()"));
    order_.capturing = false;
    EXPECT_THAT(reap(), Contains("cuMemFreeAsync(0x10000, s502)"));
}

TEST_F(AsyncResource, WhenWorkIsNotKnownTheHostWaits) {
    const DeviceBlock block = allocate(kLarge);
    order_.sees_work = false;
    EXPECT_THAT(free(block),
                ElementsAre("cuCtxGetCurrent()", "cuMemAlloc(1)", StartsWith("cuMemFree(0x"),
                            "cuMemFreeAsync(0x10000, s502)", "cuCtxGetCurrent()", "cuEventCreate()",
                            "cuEventRecord(e1, s502)"));
    EXPECT_TRUE(allocate().free_waits_for_device);
}

// Memory under pressure

TEST_F(AsyncResource, GivesUnusedMemoryToABiggerBlock) {
    driver_.set_free_bytes(3000);
    free(allocate(2000));
    reap();
    driver_.complete_everything();
    const auto block = resource_->allocate(2500, kNoStream, AllocTag{});
    ASSERT_TRUE(block);
    EXPECT_FALSE(block->free_waits_for_device);
}

TEST_F(AsyncResource, WaitsForFreesBeforeItRefuses) {
    driver_.set_free_bytes(3000);
    free(allocate(2000));
    const auto block = resource_->allocate(2500, kNoStream, AllocTag{});
    ASSERT_TRUE(block);
    const Calls calls = driver_.take_calls();
    const auto last = [&](const std::string& call) {
        return std::find(calls.rbegin(), calls.rend(), call).base();
    };
    // Nobody is waited for before the driver itself has been asked.
    EXPECT_LT(std::find(calls.begin(), calls.end(), "cuMemAlloc(2500)"),
              last("cuStreamSynchronize(s502)"));
    EXPECT_TRUE(block->free_waits_for_device);
}

TEST_F(AsyncResource, RefusesWithTheDriversOwnError) {
    driver_.set_free_bytes(3000);
    allocate(2000);
    expect_failure(resource_->allocate(2500, kNoStream, AllocTag{}), ResourceError::Driver,
                   CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(driver_.take_calls().back(), "cuMemAlloc(2500)");
    EXPECT_EQ(resource_->bytes_outstanding(), 2000U);
}

TEST_F(AsyncResource, AlsoHelpsStreamOrderedRequests) {
    driver_.set_free_bytes(3000);
    free(allocate(2000));
    EXPECT_TRUE(resource_->allocate(2500, kA, AllocTag{}));
}

TEST_F(AsyncResource, ReleasesWhatIsNotInUse) {
    driver_.set_free_bytes(3000);
    free(allocate(2000));
    resource_->release_unused(AsyncCudaResource::Wait::Never);
    EXPECT_EQ(driver_.api.mem_alloc(&address_, 2000), CUDA_ERROR_OUT_OF_MEMORY);
    resource_->release_unused(AsyncCudaResource::Wait::ForFrees);
    EXPECT_EQ(driver_.api.mem_alloc(&address_, 2000), CUDA_SUCCESS);
}

TEST_F(AsyncResource, TellsWhatItHoldsUnused) {
    EXPECT_EQ(resource_->unused_bytes(), 0U);
    const DeviceBlock kept = allocate(1024);
    free(allocate(2048));
    EXPECT_EQ(resource_->unused_bytes(), 2048U);
    free(kept);
    EXPECT_EQ(resource_->unused_bytes(), 3072U);
}

// Contexts and devices

TEST_F(AsyncResource, HasStreamsOfItsOwnInEveryContext) {
    allocate();
    driver_.set_context(kOtherContext);
    EXPECT_TRUE(resource_->allocate(1000, kNoStream, AllocTag{}));
    EXPECT_THAT(driver_.take_calls(), Contains("cuMemAllocFromPoolAsync(1000, s503)"));
}

TEST_F(AsyncResource, DoesNotTouchStreamsOfADestroyedContext) {
    allocate();
    for (const std::uintptr_t stream : {501, 502}) {
        driver_.api.stream_destroy(reinterpret_cast<CUstream>(stream));  // as its end does
    }
    driver_.take_calls();
    resource_->forget_context(kContext);
    EXPECT_THAT(driver_.take_calls(), IsEmpty());
    driver_.set_context(kOtherContext);
    EXPECT_TRUE(resource_->allocate(1000, kNoStream, AllocTag{}));
    EXPECT_THAT(driver_.take_calls(), Contains("cuMemAllocFromPoolAsync(1000, s503)"));
}

TEST_F(AsyncResource, GivesBackBlocksOfAContextThatHasEnded) {
    const DeviceBlock block = allocate();
    EXPECT_TRUE(resource_->forget(BlockId(block)));
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemFree(0x10000)"));
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
}

TEST_F(AsyncResource, GivesThemBackLaterWhereNoContextIsCurrent) {
    const DeviceBlock block = allocate();
    driver_.fail_next("cuMemFree", CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_TRUE(resource_->forget(BlockId(block)));
    EXPECT_EQ(driver_.live_allocations(), 1U);
    allocate();
    EXPECT_EQ(driver_.live_allocations(), 1U);
}

TEST_F(AsyncResource, LetsPeersAccessThePool) {
    resource_->allow_access_from(1);
    EXPECT_THAT(driver_.take_calls(), IsEmpty());
    EXPECT_TRUE(resource_->allocate(1000, kNoStream, AllocTag{}));
    EXPECT_THAT(driver_.take_calls(), Contains("cuMemPoolSetAccess(1)"));
    resource_->allow_access_from(2);
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemPoolSetAccess(2)"));
}

// Failures

TEST_F(AsyncResource, AFailingCallLosesNothing) {
    order_.unfinished = {kA, kB};
    int failures = 0;
    for (int nth = 1;; ++nth) {
        const DeviceBlock block = nearly_due();
        const std::size_t outstanding = resource_->bytes_outstanding();
        driver_.fail_call(nth, CUDA_ERROR_LAUNCH_FAILED);
        const auto result = resource_->deallocate_synchronously(block);
        const bool untouched = driver_.cancel_failure();
        failures += result ? 0 : 1;
        EXPECT_EQ(resource_->find(block.ptr).has_value(), !result.has_value());
        if (!result) {
            EXPECT_EQ(resource_->bytes_outstanding(), outstanding);
            free(block);
        }
        driver_.complete_everything();
        reap();
        EXPECT_EQ(resource_->bytes_outstanding(), 0U);
        release_all();
        EXPECT_EQ(driver_.live_allocations(), 0U);
        if (untouched) {
            break;
        }
    }
    EXPECT_GE(failures, 1);  // without a context
}

TEST_F(AsyncResource, AFailingAllocationLeavesNothingBehind) {
    for (int nth = 1;; ++nth) {
        AsyncCudaResource resource(CudaDevice(driver_.api, &order_), kDevice);
        driver_.fail_call(nth, CUDA_ERROR_UNKNOWN);
        const auto block = resource.allocate(100, kNoStream, AllocTag{});
        const bool untouched = driver_.cancel_failure();
        EXPECT_TRUE(block);  // where the pool fails the driver serves
        EXPECT_EQ(resource.bytes_outstanding(), 100U);
        EXPECT_EQ(driver_.live_allocations(), 1U);
        EXPECT_TRUE(resource.deallocate_synchronously(*block));
        resource.release_unused(AsyncCudaResource::Wait::Never);
        EXPECT_EQ(driver_.live_allocations(), 0U);
        if (untouched) {
            break;
        }
    }
}

TEST_F(AsyncResource, AccountingStaysExactWithManyThreads) {
    driver_.stop_recording();
    order_.unfinished = {kA, kB};
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; ++number) {
        threads.emplace_back([&] {
            std::vector<DeviceBlock> blocks;
            for (std::size_t i = 0; i < 4000; ++i) {
                const auto block = resource_->allocate(1 + i * 37 % 5000, kNoStream, AllocTag{});
                ASSERT_TRUE(block);
                blocks.push_back(*block);
                if (i % 3 != 0) {
                    std::swap(blocks[i * 7 % blocks.size()], blocks.back());
                    EXPECT_TRUE(resource_->deallocate_synchronously(blocks.back()));
                    EXPECT_FALSE(resource_->deallocate_synchronously(blocks.back()));
                    blocks.pop_back();
                }
            }
            for (const DeviceBlock& block : blocks) {
                EXPECT_TRUE(resource_->deallocate(block));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    driver_.complete_everything();
    reap();
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
    release_all();
    EXPECT_EQ(driver_.live_allocations(), 0U);
}

}  // namespace
}  // namespace cuward::testing
