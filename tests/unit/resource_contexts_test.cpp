// Streams of several contexts, and the two default handles, which mean another stream in each.
#include <thread>

#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class ResourceContexts : public ResourceTest {
  protected:
    /// The calls after those that find out what a default handle means.
    Calls waits(const DeviceBlock& block, StreamId stream) {
        Calls calls = prepare(block, stream, Access::Write);
        std::erase(calls, "cuCtxGetCurrent()");
        return calls;
    }
    void touch_in_another_thread(StreamId stream) {
        std::thread([&] { touch(block_, stream, Access::Write); }).join();
    }

    DeviceBlock block_ = allocate(kNoStream);
};

TEST_F(ResourceContexts, AnEventIsRecordedInTheContextOfItsStream) {
    driver_.set_stream_context(kA, kOtherContext);
    touch(block_, kA, Access::Write);
    EXPECT_THAT(prepare(block_, kB, Access::Read),
                ElementsAre("cuCtxGetCurrent()", "cuStreamGetCtx(s10)", "cuCtxPushCurrent(0xc2000)",
                            "cuEventCreate()", "cuEventRecord(e1, s10)", "cuCtxPopCurrent()",
                            "cuStreamWaitEvent(s20, e1)"));
}

TEST_F(ResourceContexts, EventsAreReusedInTheirOwnContextOnly) {
    driver_.set_stream_context(kA, kOtherContext);
    touch(block_, kA, Access::Write);
    prepare(block_, kB, Access::Read);
    touch(block_, kB, Access::Write);  // prepare waits for A with the event of before
    EXPECT_EQ(driver_.live_events(), 1U);
    EXPECT_THAT(prepare(block_, kC, Access::Read), Contains("cuEventRecord(e2, s20)"));
}

TEST_F(ResourceContexts, TheContextIsLeftAgainWhenTheEventFails) {
    driver_.set_stream_context(kA, kOtherContext);
    touch(block_, kA, Access::Write);
    driver_.fail_next("cuEventCreate", CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_FALSE(resource_->prepare_block_use(BlockId(block_), kB, Access::Read));
    EXPECT_THAT(driver_.take_calls(),
                ElementsAre("cuCtxGetCurrent()", "cuStreamGetCtx(s10)", "cuCtxPushCurrent(0xc2000)",
                            "cuEventCreate()", "cuCtxPopCurrent()"));
}

TEST_F(ResourceContexts, TheLegacyStreamOfOneContextIsOneStream) {
    touch(block_, kLegacyStream, Access::Write);
    EXPECT_THAT(waits(block_, kLegacyStream), IsEmpty());
}

TEST_F(ResourceContexts, TheLegacyStreamsOfTwoContextsAreTwo) {
    touch(block_, kLegacyStream, Access::Write);
    driver_.set_context(kOtherContext);
    EXPECT_THAT(
        waits(block_, kLegacyStream),
        ElementsAre("cuCtxPushCurrent(0xc1000)", "cuEventCreate()", "cuEventRecord(e1, legacy)",
                    "cuCtxPopCurrent()", "cuStreamWaitEvent(legacy, e1)"));
}

TEST_F(ResourceContexts, ThePerThreadStreamOfOneThreadIsOneStream) {
    touch(block_, kPerThreadStream, Access::Write);
    EXPECT_THAT(waits(block_, kPerThreadStream), IsEmpty());
}

TEST_F(ResourceContexts, ThePerThreadStreamOfAnotherThreadIsWaitedForThroughTheLegacyStream) {
    touch_in_another_thread(kPerThreadStream);
    EXPECT_THAT(waits(block_, kPerThreadStream),
                ElementsAre("cuEventCreate()", "cuEventRecord(e1, legacy)",
                            "cuStreamWaitEvent(per-thread, e1)"));
}

TEST_F(ResourceContexts, WithoutAContextADefaultStreamIsRecordedAsItIs) {
    driver_.set_context(0);
    touch(block_, kLegacyStream, Access::Write);
    EXPECT_THAT(waits(block_, kA), ElementsAre("cuEventCreate()", "cuEventRecord(e1, legacy)",
                                               "cuStreamWaitEvent(s10, e1)"));
}

TEST_F(ResourceContexts, EventsOfADestroyedContextAreNotTouchedAgain) {
    touch(block_, kA, Access::Write);
    prepare(block_, kB, Access::Read);
    driver_.api.event_destroy(reinterpret_cast<CUevent>(1));  // as the context's end does
    driver_.take_calls();
    resource_->forget_context(kContext);
    EXPECT_THAT(driver_.take_calls(), IsEmpty());
    EXPECT_THAT(prepare(block_, kB, Access::Read), Contains("cuEventCreate()"));
    EXPECT_THAT(prepare(block_, kB, Access::Read), Not(Contains("cuEventCreate()")));
}

}  // namespace
}  // namespace cuward::testing
