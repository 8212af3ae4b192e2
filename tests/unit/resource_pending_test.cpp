// Stream-ordered frees between the call and their execution on the device.
#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ResourcePending : public ResourceTest {
  protected:
    void free_one(StreamId stream, std::size_t bytes) {
        ASSERT_TRUE(resource_->deallocate(allocate(stream, bytes)));
        driver_.take_calls();
    }
};

TEST_F(ResourcePending, AFreeStaysOutstandingUntilItsEventIsDone) {
    free_one(kA, 100);
    EXPECT_EQ(resource_->bytes_outstanding(), 100U);
    resource_->reap_pending();
    EXPECT_EQ(resource_->bytes_outstanding(), 100U);
    driver_.complete_event(1);
    resource_->reap_pending();
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuEventQuery(e1)", "cuEventQuery(e1)"));
    resource_->reap_pending();
    EXPECT_THAT(driver_.take_calls(), IsEmpty());
}

TEST_F(ResourcePending, ReapingTakesWhatIsDoneInAnyOrder) {
    free_one(kA, 1);
    free_one(kB, 20);
    free_one(kC, 300);
    driver_.complete_event(2);
    resource_->reap_pending();
    EXPECT_EQ(resource_->bytes_outstanding(), 301U);
    driver_.complete_everything();
    resource_->reap_pending();
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
}

TEST_F(ResourcePending, AFreeReapsEarlierOnes) {
    free_one(kA, 1);
    driver_.complete_event(1);
    free_one(kA, 20);
    EXPECT_EQ(resource_->bytes_outstanding(), 20U);
}

TEST_F(ResourcePending, AFreeThatCannotBeWatchedCountsAsDone) {
    const DeviceBlock block = allocate(kA, 100);
    driver_.fail_next("cuEventCreate", CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_TRUE(resource_->deallocate(block));
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
    EXPECT_EQ(driver_.live_allocations(), 0U);
}

TEST_F(ResourcePending, AnEventThatFailsEndsTheWatchAndTheEvent) {
    free_one(kA, 100);
    driver_.fail_next("cuEventQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
    resource_->reap_pending();
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuEventQuery(e1)", "cuEventDestroy(e1)"));
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
}

TEST_F(ResourcePending, ManyPendingFreesOfAStreamShareEvents) {
    constexpr std::size_t kFrees = 2000;
    for (std::size_t i = 0; i < kFrees; ++i) {
        free_one(i % 2 == 0 ? kA : kB, 1);
    }
    EXPECT_EQ(resource_->bytes_outstanding(), kFrees);
    EXPECT_LT(driver_.live_events(), 300U);
    driver_.complete_everything();
    resource_->reap_pending();
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
}

TEST_F(ResourcePending, AStreamThatFindsTheListFullIsStillWatched) {
    for (int i = 0; i < 256; ++i) {
        free_one(kA, 1);
    }
    free_one(kB, 1000);
    driver_.take_calls();
    resource_->reap_pending();
    EXPECT_THAT(driver_.take_calls(), SizeIs(257));
    EXPECT_EQ(resource_->bytes_outstanding(), 1256U);
}

TEST_F(ResourcePending, ADestroyedContextHasExecutedItsFrees) {
    driver_.set_stream_context(kB, kOtherContext);
    free_one(kA, 1);
    free_one(kB, 20);
    driver_.api.event_destroy(reinterpret_cast<CUevent>(2));  // as the context's end does
    driver_.take_calls();
    resource_->forget_context(kOtherContext);
    EXPECT_THAT(driver_.take_calls(), IsEmpty());
    EXPECT_EQ(resource_->bytes_outstanding(), 1U);
}

}  // namespace
}  // namespace cuward::testing
