// Each test pins one line of the table of edges: what a call orders, and what it does not.
#include "core/order/order.hpp"

#include <gtest/gtest.h>

namespace cuward {
namespace {

constexpr ContextId kContext = 7;
constexpr std::uint64_t kEvent = 0xe1;

class OrderTest : public ::testing::Test {
  protected:
    StreamSlot make(std::uint64_t handle, bool blocking) {
        return order.stream_created({kContext, StreamId{handle}}, blocking);
    }
    StreamSlot legacy() { return order.slot_of({kContext, kLegacyStream}); }
    StreamSlot per_thread(std::uint32_t thread) {
        return order.slot_of({kContext, kPerThreadStream, thread});
    }
    void record(std::uint64_t event, StreamSlot slot) {
        EventRecord made;
        order.begin_record(slot, made);
        order.recorded(event, slot, made);
    }
    void wait(StreamSlot slot, std::uint64_t event) {
        EventRecord last;
        order.begin_wait(slot, event, last);
        order.wait(slot, last);
    }
    bool is_ordered(StreamSlot earlier, Epoch epoch, StreamSlot later) {
        order.next(later);
        return order.clock(later).documented[earlier] >= epoch;
    }
    bool host_knows(StreamSlot slot, Epoch epoch) { return order.host().documented[slot] >= epoch; }

    Order order;
    StreamSlot a = make(0x10, false);
    StreamSlot b = make(0x20, false);
    StreamSlot blocking_a = make(0x30, true);
    StreamSlot blocking_b = make(0x40, true);
};

TEST_F(OrderTest, OperationsOfOneStreamAreOrdered) {
    const Epoch first = order.next(a);
    EXPECT_TRUE(is_ordered(a, first, a));
}

TEST_F(OrderTest, StreamsAreUnordered) {
    const Epoch first = order.next(a);
    EXPECT_FALSE(is_ordered(a, first, b));
}

TEST_F(OrderTest, WaitingOnARecordedEventOrders) {
    const Epoch first = order.next(a);
    record(kEvent, a);
    wait(b, kEvent);
    EXPECT_TRUE(is_ordered(a, first, b));
}

TEST_F(OrderTest, AnEventCoversOnlyWorkBeforeItsRecord) {
    record(kEvent, a);
    const Epoch late = order.next(a);
    wait(b, kEvent);
    EXPECT_FALSE(is_ordered(a, late, b));
}

TEST_F(OrderTest, RecordingAgainReplacesTheRecord) {
    record(kEvent, a);
    const Epoch late = order.next(a);
    record(kEvent, a);
    wait(b, kEvent);
    EXPECT_TRUE(is_ordered(a, late, b));
}

TEST_F(OrderTest, ARecordOnAnotherStreamReplacesTheRecord) {
    const Epoch first = order.next(a);
    record(kEvent, a);
    record(kEvent, blocking_a);
    wait(b, kEvent);
    EXPECT_FALSE(is_ordered(a, first, b));
}

TEST_F(OrderTest, AWaitTakesTheRecordIssuedWhenItWasIssued) {
    record(kEvent, a);
    wait(b, kEvent);
    const Epoch late = order.next(a);
    record(kEvent, a);
    EXPECT_FALSE(is_ordered(a, late, b));
}

TEST_F(OrderTest, WaitingOnAnEventNeverRecordedIsNoOp) {
    const Epoch first = order.next(a);
    wait(b, kEvent);
    record(kEvent, a);
    EXPECT_FALSE(is_ordered(a, first, b));
}

TEST_F(OrderTest, AReusedEventHandleWasNeverRecorded) {
    const Epoch first = order.next(a);
    record(kEvent, a);
    order.event_destroyed(kEvent);
    order.event_created(kEvent);
    wait(b, kEvent);
    EXPECT_FALSE(is_ordered(a, first, b));
}

TEST_F(OrderTest, OrderIsTransitiveThroughEvents) {
    const Epoch first = order.next(a);
    record(kEvent, a);
    wait(b, kEvent);
    record(kEvent + 1, b);
    wait(blocking_a, kEvent + 1);
    EXPECT_TRUE(is_ordered(a, first, blocking_a));
}

TEST_F(OrderTest, SynchronizingAStreamTellsTheHostAndAllLaterWork) {
    const Epoch first = order.next(a);
    EXPECT_FALSE(host_knows(a, first));
    order.host_joins(order.work_of_stream(a));
    EXPECT_TRUE(host_knows(a, first));
    EXPECT_TRUE(is_ordered(a, first, b));
}

TEST_F(OrderTest, WorkQueuedAfterASynchronizationWasEnteredIsNotCovered) {
    const Clock entered = order.work_of_stream(a);
    const Epoch late = order.next(a);
    order.host_joins(entered);
    EXPECT_FALSE(host_knows(a, late));
}

TEST_F(OrderTest, SynchronizingAnEventCoversItsRecordOnly) {
    const Epoch first = order.next(a);
    record(kEvent, a);
    const Epoch late = order.next(a);
    order.host_joins(order.work_of_event(kEvent));
    EXPECT_TRUE(host_knows(a, first));
    EXPECT_FALSE(host_knows(a, late));
}

TEST_F(OrderTest, SynchronizingAContextCoversItsStreamsOnly) {
    const StreamSlot other = order.stream_created({kContext + 1, StreamId{0x90}}, true);
    const Epoch mine = order.next(a);
    const Epoch foreign = order.next(other);
    order.host_joins(order.work_of_context(kContext));
    EXPECT_TRUE(host_knows(a, mine));
    EXPECT_FALSE(host_knows(other, foreign));
}

TEST_F(OrderTest, AStreamIsTheSameWhicheverContextIsCurrent) {
    EXPECT_EQ(order.slot_of({kContext + 1, StreamId{0x10}}), a);
    EXPECT_EQ(order.ref(a).context, kContext);
    const StreamSlot mine = order.slot_of({kContext, kLegacyStream});
    EXPECT_NE(order.slot_of({kContext + 1, kLegacyStream}), mine);
}

TEST_F(OrderTest, AnImplicitEdgeIsKnownButNotDocumented) {
    const Epoch first = order.next(a);
    order.host_joins_implicitly(order.work_of_all());
    order.next(b);
    EXPECT_GE(order.clock(b).known[a], first);
    EXPECT_LT(order.clock(b).documented[a], first);
}

TEST_F(OrderTest, LegacyStreamWaitsForBlockingStreams) {
    const Epoch first = order.next(blocking_a);
    EXPECT_TRUE(is_ordered(blocking_a, first, legacy()));
}

TEST_F(OrderTest, BlockingStreamsWaitForTheLegacyStream) {
    const StreamSlot slot = legacy();
    const Epoch first = order.next(slot);
    EXPECT_TRUE(is_ordered(slot, first, blocking_a));
}

TEST_F(OrderTest, LegacyWorkOrdersBlockingStreamsAmongEachOther) {
    const Epoch first = order.next(blocking_a);
    order.next(legacy());
    EXPECT_TRUE(is_ordered(blocking_a, first, blocking_b));
}

TEST_F(OrderTest, BlockingStreamsAloneAreUnordered) {
    legacy();
    const Epoch first = order.next(blocking_a);
    EXPECT_FALSE(is_ordered(blocking_a, first, blocking_b));
}

TEST_F(OrderTest, NonBlockingStreamsTakeNoPartInLegacyRules) {
    const Epoch first = order.next(a);
    EXPECT_FALSE(is_ordered(a, first, legacy()));
    const Epoch second = order.next(legacy());
    EXPECT_FALSE(is_ordered(legacy(), second, a));
}

TEST_F(OrderTest, LegacyStreamsOfTwoContextsAreUnrelated) {
    const Epoch first = order.next(blocking_a);
    const StreamSlot other = order.slot_of({kContext + 1, kLegacyStream});
    EXPECT_FALSE(is_ordered(blocking_a, first, other));
}

TEST_F(OrderTest, RecordingOnTheLegacyStreamCoversBlockingStreams) {
    const Epoch first = order.next(blocking_a);
    record(kEvent, legacy());
    wait(b, kEvent);
    EXPECT_TRUE(is_ordered(blocking_a, first, b));
}

TEST_F(OrderTest, SynchronizingTheLegacyStreamWaitsForBlockingStreamsOnly) {
    const Epoch blocking = order.next(blocking_a);
    const Epoch free = order.next(a);
    order.host_joins(order.work_of_stream(legacy()));
    EXPECT_TRUE(host_knows(blocking_a, blocking));
    EXPECT_FALSE(host_knows(a, free));
}

TEST_F(OrderTest, PerThreadStreamsAreOnesOfTheirThreads) {
    const StreamSlot mine = per_thread(1);
    const Epoch first = order.next(mine);
    EXPECT_FALSE(is_ordered(mine, first, per_thread(2)));
    EXPECT_EQ(mine, per_thread(1));
}

TEST_F(OrderTest, PerThreadStreamsAreBlocking) {
    const StreamSlot mine = per_thread(1);
    const Epoch first = order.next(mine);
    EXPECT_TRUE(is_ordered(mine, first, legacy()));
}

TEST_F(OrderTest, SynchronizingThePerThreadStreamDoesNotCoverOthers) {
    const Epoch first = order.next(blocking_a);
    order.host_joins(order.work_of_stream(per_thread(1)));
    EXPECT_FALSE(host_knows(blocking_a, first));
}

TEST_F(OrderTest, WorkOfADestroyedStreamStillCounts) {
    const Epoch first = order.next(blocking_a);
    order.stream_destroyed({kContext, StreamId{0x30}});
    EXPECT_FALSE(is_ordered(blocking_a, first, b));
    EXPECT_TRUE(is_ordered(blocking_a, first, legacy()));
    order.host_joins(order.work_of_context(kContext));
    EXPECT_TRUE(host_knows(blocking_a, first));
}

TEST_F(OrderTest, AReusedStreamHandleIsAnotherStream) {
    const Epoch first = order.next(a);
    order.stream_destroyed({kContext, StreamId{0x10}});
    const StreamSlot reused = make(0x10, false);
    EXPECT_NE(reused, a);
    EXPECT_FALSE(is_ordered(a, first, reused));
}

TEST_F(OrderTest, StreamsMadeAndDestroyedForEverNeedBoundedSlots) {
    StreamSlot highest = 0;
    for (int i = 0; i < 1000; ++i) {
        const StreamSlot slot = make(0x1000, false);
        highest = std::max(highest, slot);
        order.next(slot);
        order.host_joins(order.work_of_stream(slot));
        order.stream_destroyed({kContext, StreamId{0x1000}});
    }
    EXPECT_LT(highest, 10U);
}

TEST_F(OrderTest, BlockingStreamsMadeAndDestroyedForEverNeedBoundedSlots) {
    StreamSlot highest = 0;
    for (int i = 0; i < 1000; ++i) {
        const StreamSlot slot = make(0x1000, true);
        highest = std::max(highest, slot);
        order.next(slot);
        order.host_joins(order.work_of_stream(slot));
        order.stream_destroyed({kContext, StreamId{0x1000}});
    }
    EXPECT_LT(highest, 10U);
}

TEST_F(OrderTest, StreamsDestroyedInFlightForEverNeedBoundedSlots) {
    StreamSlot highest = 0;
    for (int i = 0; i < 2000; ++i) {
        const StreamSlot slot = make(0x1000, false);
        highest = std::max(highest, slot);
        order.next(slot);
        order.stream_destroyed({kContext, StreamId{0x1000}});
    }
    EXPECT_LT(highest, 300U);
}

TEST(OrderOfThreads, StreamsOfEndedThreadsNeedBoundedSlots) {
    Order order([](std::uint32_t thread) { return thread % 1000 == 0; });
    StreamSlot highest = 0;
    for (std::uint32_t thread = 1; thread <= 3000; ++thread) {
        const StreamSlot slot = order.slot_of({kContext, kPerThreadStream, thread});
        highest = std::max(highest, slot);
        order.next(slot);
    }
    EXPECT_LT(highest, 700U);
}

TEST_F(OrderTest, WhatAnEventRecordedByAGraphCoversIsNotKnown) {
    const Epoch first = order.next(a);
    order.begin_capture(blocking_a);
    record(kEvent, blocking_a);
    order.end_capture(blocking_a);
    wait(b, kEvent);
    order.next(b);
    EXPECT_GE(order.clock(b).known[a], first);
    EXPECT_LT(order.clock(b).documented[a], first);
}

TEST_F(OrderTest, AWaitForAnEventOfOtherProcessesMayCoverAllEarlierWork) {
    const Epoch first = order.next(a);
    order.event_shared(kEvent);
    wait(b, kEvent);
    const Epoch late = order.next(a);
    order.next(b);
    EXPECT_GE(order.clock(b).known[a], first);
    EXPECT_LT(order.clock(b).known[a], late);
    EXPECT_LT(order.clock(b).documented[a], first);
}

TEST_F(OrderTest, AnEventOfOtherProcessesCoversWhatThisOneRecorded) {
    const Epoch first = order.next(a);
    order.event_shared(kEvent);
    record(kEvent, a);
    const Epoch late = order.next(a);
    wait(b, kEvent);
    EXPECT_TRUE(is_ordered(a, first, b));
    EXPECT_FALSE(is_ordered(a, late, b));
    EXPECT_GE(order.clock(b).known[a], late);
}

TEST_F(OrderTest, AnEventRecordedInAContextCoversItsStreamsOnly) {
    const StreamSlot elsewhere = order.stream_created({kContext + 1, StreamId{0x90}}, true);
    const Epoch mine = order.next(a);
    const Epoch foreign = order.next(elsewhere);
    order.recorded(kEvent, order.work_of_context(kContext));
    wait(b, kEvent);
    EXPECT_TRUE(is_ordered(a, mine, b));
    EXPECT_FALSE(is_ordered(elsewhere, foreign, b));
}

TEST_F(OrderTest, AContextThatWaitsOrdersTheLaterWorkOfAllItsStreams) {
    const StreamSlot elsewhere = order.stream_created({kContext + 1, StreamId{0x90}}, true);
    const Epoch first = order.next(elsewhere);
    record(kEvent, elsewhere);
    const Epoch late = order.next(elsewhere);
    order.context_waits(kContext, order.work_of_event(kEvent));
    EXPECT_TRUE(is_ordered(elsewhere, first, b));
    EXPECT_FALSE(is_ordered(elsewhere, late, b));
    EXPECT_TRUE(is_ordered(elsewhere, first, make(0x50, false)));
}

TEST_F(OrderTest, AGreenContextIsPartOfItsParentAndNotTheOtherWayRound) {
    constexpr ContextId kGreen = 0x6e;
    constexpr ContextId kConverted = 0xc0;
    order.green_context_created(kGreen, kContext);
    order.green_context_converted(kGreen, kConverted);
    const StreamSlot green = order.stream_created({kContext, StreamId{0x60}}, false, kGreen);
    const StreamSlot its_legacy = order.slot_of({kConverted, kLegacyStream});
    const Epoch first = order.next(green);
    const Epoch second = order.next(its_legacy);
    const Epoch outside = order.next(a);
    for (const ContextId context : {kGreen, kConverted, kContext}) {
        const Clock work = order.work_of_context(context);
        EXPECT_TRUE(work.documented.covers(green, first));
        EXPECT_TRUE(work.documented.covers(its_legacy, second));
        EXPECT_EQ(work.documented.covers(a, outside), context == kContext);
    }
    record(kEvent, a);
    order.context_waits(kConverted, order.work_of_event(kEvent));
    EXPECT_TRUE(is_ordered(a, outside, green));
    EXPECT_FALSE(is_ordered(a, outside, b));
}

TEST_F(OrderTest, AReusedSlotKeepsTheOrderOfItsOldWork) {
    const Epoch old = order.next(a);
    order.host_joins(order.work_of_stream(a));
    order.stream_destroyed({kContext, StreamId{0x10}});
    const StreamSlot reused = make(0x50, false);
    const Epoch fresh = order.next(reused);
    EXPECT_TRUE(reused != a || fresh > old);
    EXPECT_FALSE(is_ordered(reused, fresh, b));
}

TEST_F(OrderTest, CapturePutsNothingInOrder) {
    const Epoch first = order.next(a);
    order.begin_capture(a);
    EXPECT_TRUE(order.is_capturing(a));
    record(kEvent, a);
    wait(b, kEvent);
    EXPECT_TRUE(order.is_capturing(b));
    order.end_capture(a);
    EXPECT_FALSE(order.is_capturing(b));
    EXPECT_FALSE(is_ordered(a, first, b));
}

TEST_F(OrderTest, AnEndedContextTakesItsStreamsAlong) {
    const Epoch first = order.next(a);
    order.context_ended(kContext);
    EXPECT_FALSE(order.knows({kContext, StreamId{0x10}}));
    EXPECT_TRUE(host_knows(a, first));
}

/// Calls of several threads at once, each in two steps.
class OrderOfThreadsTest : public OrderTest {
  protected:
    struct Operation {
        StreamSlot slot = 0;
        Epoch epoch = 0;
        Clock clock;
        Moment begun = 0;
    };

    Operation begin(StreamSlot slot) {
        Operation operation;
        operation.slot = slot;
        operation.epoch = order.begin(slot, 0, operation.clock, operation.begun);
        return operation;
    }
    void queued(const Operation& operation) {
        order.queued(operation.slot, operation.epoch, operation.clock, operation.begun);
    }
    Operation run(StreamSlot slot) {
        const Operation operation = begin(slot);
        queued(operation);
        return operation;
    }
    static bool comes_after(const Operation& later, const Operation& earlier) {
        return later.clock.documented.covers(earlier.slot, earlier.epoch);
    }
};

TEST_F(OrderOfThreadsTest, AnEventDoesNotCoverACallUnderWay) {
    const Operation under_way = begin(a);
    const Operation returned = run(a);
    record(kEvent, a);
    queued(under_way);
    wait(b, kEvent);
    const Operation later = run(b);
    EXPECT_FALSE(comes_after(later, under_way));
    EXPECT_TRUE(comes_after(later, returned));
}

TEST_F(OrderOfThreadsTest, AnEventDoesNotCoverWhatIsQueuedWhileItIsRecorded) {
    EventRecord made;
    order.begin_record(a, made);
    const Operation meanwhile = run(a);
    order.recorded(kEvent, a, made);
    wait(b, kEvent);
    EXPECT_FALSE(comes_after(run(b), meanwhile));
}

TEST_F(OrderOfThreadsTest, AWaitTakesTheRecordFromWhenItWasEntered) {
    record(kEvent, a);
    EventRecord waited_for;
    order.begin_wait(b, kEvent, waited_for);
    const Operation late = run(a);
    record(kEvent, a);
    order.wait(b, waited_for);
    EXPECT_FALSE(comes_after(run(b), late));
}

TEST_F(OrderOfThreadsTest, TheHostLearnsNothingOfACallUnderWay) {
    const Operation under_way = begin(a);
    order.host_joins(order.work_of_stream(a));
    order.host_joins(order.work_of_context(kContext));
    EXPECT_FALSE(host_knows(a, under_way.epoch));
    queued(under_way);
    order.host_joins(order.work_of_stream(a));
    EXPECT_TRUE(host_knows(a, under_way.epoch));
}

TEST_F(OrderOfThreadsTest, ABlockingStreamComesAfterTheLegacyStreamsWorkOnceThatIsQueued) {
    const Operation under_way = begin(legacy());
    EXPECT_FALSE(comes_after(run(blocking_a), under_way));
    queued(under_way);
    EXPECT_TRUE(comes_after(run(blocking_a), under_way));
}

TEST_F(OrderOfThreadsTest, TheLegacyStreamComesAfterABlockingStreamsWorkOnceThatIsQueued) {
    const Operation under_way = begin(blocking_a);
    EXPECT_FALSE(comes_after(run(legacy()), under_way));
    queued(under_way);
    EXPECT_TRUE(comes_after(run(legacy()), under_way));
}

TEST_F(OrderOfThreadsTest, TheLegacyStreamOrdersBlockingStreamsOnceItsWorkIsQueued) {
    const Operation first = run(blocking_a);
    const Operation between = begin(legacy());
    EXPECT_TRUE(comes_after(between, first));
    EXPECT_FALSE(comes_after(run(blocking_b), first));
    queued(between);
    EXPECT_TRUE(comes_after(run(blocking_b), first));
}

TEST_F(OrderOfThreadsTest, WhatComesAfterACallThatHasReturnedComesAfterThoseThatReturnLater) {
    const Operation under_way = begin(a);
    const Operation meanwhile = begin(a);
    EXPECT_FALSE(comes_after(meanwhile, under_way));
    queued(meanwhile);
    queued(under_way);
    const Operation later = run(a);
    EXPECT_TRUE(comes_after(later, meanwhile));
    EXPECT_TRUE(comes_after(later, under_way));
}

TEST_F(OrderOfThreadsTest, ACallThatIsRefusedOrdersNothing) {
    const Operation first = run(blocking_a);
    const Operation failed = begin(legacy());
    order.refused(failed.slot, failed.epoch);
    EXPECT_FALSE(comes_after(run(blocking_b), first));
    EXPECT_EQ(order.calls().queued_up_to(failed.slot, failed.epoch), failed.epoch);
}

TEST_F(OrderOfThreadsTest, OnlyTheLegacyStreamAndBlockingStreamsOfItsContextTakeTurns) {
    const StreamSlot elsewhere = order.stream_created({kContext + 1, StreamId{0x90}}, true);
    EXPECT_TRUE(order.run_in_turn(a, a));
    EXPECT_TRUE(order.run_in_turn(legacy(), blocking_a));
    EXPECT_TRUE(order.run_in_turn(per_thread(1), legacy()));
    EXPECT_FALSE(order.run_in_turn(blocking_a, blocking_b));
    EXPECT_FALSE(order.run_in_turn(legacy(), a));
    EXPECT_FALSE(order.run_in_turn(legacy(), elsewhere));
}

}  // namespace
}  // namespace cuward
