// What a resource does with knowledge of the program's own order.
#include <set>
#include <tuple>

#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Counts positions on each stream; provides what a test says.
class TestOrder final : public UseOrder {
  public:
    UsePoint point(StreamId stream) override {
        return {.stream = stream,
                .context = kContext,
                .lane = static_cast<std::uint64_t>(stream) + lane_shift,
                .position = ++position};
    }
    bool provided(const UsePoint& earlier, const UsePoint& later) override {
        asked.emplace_back(earlier.stream, earlier.position, later.stream);
        return provide.contains({earlier.stream, later.stream});
    }
    void queued(const UsePoint& earlier, const UsePoint& later) override {
        repaired.emplace_back(earlier.stream, earlier.position, later.stream);
    }

    using Question = std::tuple<StreamId, std::uint64_t, StreamId>;
    std::set<std::pair<StreamId, StreamId>> provide;
    std::vector<Question> asked;
    std::vector<Question> repaired;
    std::uint64_t position = 0;
    std::uint64_t lane_shift = 1000;
};

class ResourceOrder : public ResourceTest {
  protected:
    ResourceOrder() { use_order(&order_); }

    TestOrder order_;
};

TEST_F(ResourceOrder, AProvidedDependencyCostsNoDriverCall) {
    const DeviceBlock block = allocate(kNoStream);
    touch(block, kA, Access::Write);
    order_.provide = {{kA, kB}};
    EXPECT_THAT(prepare(block, kB, Access::Read), IsEmpty());
    EXPECT_THAT(order_.repaired, IsEmpty());
}

TEST_F(ResourceOrder, IsAskedAboutTheWorkThatFinishedLast) {
    const DeviceBlock block = allocate(kNoStream);
    touch(block, kA, Access::Write);  // prepare takes position 1, finish position 2
    prepare(block, kB, Access::Read);
    EXPECT_THAT(order_.asked, ElementsAre(TestOrder::Question{kA, 2, kB}));
}

TEST_F(ResourceOrder, IsToldWhatHasBeenRepaired) {
    const DeviceBlock block = allocate(kNoStream);
    touch(block, kA, Access::Write);
    EXPECT_THAT(prepare(block, kB, Access::Read),
                ElementsAre("cuCtxGetCurrent()", "cuEventCreate()", "cuEventRecord(e1, s10)",
                            "cuStreamWaitEvent(s20, e1)"));
    EXPECT_THAT(order_.repaired, ElementsAre(TestOrder::Question{kA, 2, kB}));
}

TEST_F(ResourceOrder, IsNotToldOfAWaitThatFailed) {
    const DeviceBlock block = allocate(kNoStream);
    touch(block, kA, Access::Write);
    driver_.fail_next("cuStreamWaitEvent", CUDA_ERROR_UNKNOWN);
    expect_failure(resource_->prepare_block_use(BlockId(block), kB, Access::Read),
                   ResourceError::Driver, CUDA_ERROR_UNKNOWN);
    EXPECT_THAT(order_.repaired, IsEmpty());
}

TEST_F(ResourceOrder, OnlyMissingDependenciesAreQueued) {
    const DeviceBlock block = allocate(kNoStream);
    touch(block, kA, Access::Read);
    touch(block, kB, Access::Read);
    order_.provide = {{kA, kC}};
    prepare(block, kC, Access::Write);
    EXPECT_THAT(order_.repaired, ElementsAre(TestOrder::Question{kB, 4, kC}));
}

TEST_F(ResourceOrder, AReusedHandleIsAnotherStreamWhenTheLaneSaysSo) {
    const DeviceBlock block = allocate(kNoStream);
    touch(block, kA, Access::Write);
    order_.lane_shift = 2000;
    prepare(block, kA, Access::Read);
    EXPECT_THAT(order_.repaired, ElementsAre(TestOrder::Question{kA, 2, kA}));
}

TEST_F(ResourceOrder, ASynchronousFreeAsksAboutTheHost) {
    const DeviceBlock block = allocate(kA);
    touch(block, kB, Access::Read);
    order_.provide = {{kA, kNoStream}, {kB, kNoStream}};
    ASSERT_TRUE(resource_->deallocate_synchronously(block));
    EXPECT_THAT(driver_.take_calls(), ElementsAre("cuMemFree(0x10000)"));
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
}

TEST_F(ResourceOrder, ASynchronousFreeWithAUseTheHostHasNotSeenGoesBehindIt) {
    const DeviceBlock block = allocate(kA);
    order_.provide = {{kA, kB}, {kA, kNoStream}};
    touch(block, kB, Access::Read);
    ASSERT_TRUE(resource_->deallocate_synchronously(block));
    EXPECT_THAT(order_.repaired, ElementsAre(TestOrder::Question{kB, 3, kA}));
    EXPECT_EQ(resource_->bytes_outstanding(), 1000U);
}

class ResourceObserved : public ResourceTest {
  protected:
    ResourceObserved() { use_order(&observed_order()); }
};

TEST_F(ResourceObserved, UsesQueueNothing) {
    const DeviceBlock block = allocate(kA);
    ASSERT_TRUE(resource_->record_block_use(BlockId(block), kLegacyStream));
    for (const StreamId stream : {kA, kB, kLegacyStream, kPerThreadStream}) {
        EXPECT_TRUE(resource_->prepare_block_use(BlockId(block), stream, Access::ReadWrite));
        EXPECT_TRUE(resource_->finish_block_use(BlockId(block), stream, Access::ReadWrite));
        EXPECT_TRUE(resource_->prepare_block_use(BlockId(block), stream, Access::Read));
        EXPECT_TRUE(resource_->finish_block_use(BlockId(block), stream, Access::Read));
    }
    EXPECT_THAT(driver_.take_calls(), IsEmpty());
}

TEST_F(ResourceObserved, FreesAreExactlyTheOnesTheProgramMade) {
    const DeviceBlock first = allocate(kA);
    const DeviceBlock second = allocate(kA);
    const DeviceBlock third = allocate(kA);
    for (const DeviceBlock& block : {first, second, third}) {
        touch(block, kC, Access::Write);
    }
    EXPECT_TRUE(resource_->deallocate(first));
    EXPECT_TRUE(resource_->deallocate_on(second, kB));
    EXPECT_TRUE(resource_->deallocate_synchronously(third));
    EXPECT_THAT(driver_.take_calls(),
                ElementsAre("cuMemFreeAsync(0x10000, s10)", "cuMemFreeAsync(0x10400, s20)",
                            "cuMemFree(0x10800)"));
    EXPECT_EQ(resource_->bytes_outstanding(), 0U);
}

}  // namespace
}  // namespace cuward::testing
