#include "core/order/clock.hpp"

#include <gtest/gtest.h>

namespace cuward {
namespace {

Timeline up_to(StreamSlot slot, Epoch epoch) {
    Timeline made;
    made.raise(slot, epoch);
    return made;
}

Timeline up_to_but(StreamSlot slot, Epoch epoch, Epoch exception) {
    Timeline made = up_to(slot, epoch);
    made.leave_out(slot, exception);
    return made;
}

TEST(TimelineTest, KnowsWhatItDoesNotLeaveOut) {
    const Timeline line = up_to_but(1, 5, 3);
    EXPECT_TRUE(line.covers(1, 2));
    EXPECT_FALSE(line.covers(1, 3));
    EXPECT_TRUE(line.covers(1, 5));
    EXPECT_FALSE(line.covers(1, 6));
    EXPECT_TRUE(line.covers_up_to(1, 2));
    EXPECT_FALSE(line.covers_up_to(1, 5));
}

TEST(TimelineTest, LeavesOutOnlyWhatItKnows) {
    Timeline line = up_to_but(1, 5, 6);
    EXPECT_FALSE(line.has_exceptions());
    line.leave_out(1, 3);
    line.leave_out(1, 3);
    line.raise(1, 4);
    EXPECT_FALSE(line.has_exceptions());
}

TEST(TimelineTest, WhatNeitherKnowsStaysLeftOut) {
    Timeline line = up_to_but(1, 5, 3);
    EXPECT_TRUE(line.join(up_to_but(1, 7, 3)));
    EXPECT_FALSE(line.covers(1, 3));
    EXPECT_TRUE(line.covers(1, 7));
}

TEST(TimelineTest, WhatEitherKnowsIsKnown) {
    Timeline line = up_to_but(1, 5, 3);
    EXPECT_TRUE(line.join(up_to_but(1, 5, 4)));
    EXPECT_TRUE(line.covers_up_to(1, 5));
    EXPECT_FALSE(line.join(up_to_but(1, 5, 4)));
}

TEST(TimelineTest, WhatIsNewerBringsWhatItLeavesOut) {
    Timeline line = up_to(1, 5);
    EXPECT_TRUE(line.join(up_to_but(1, 9, 7)));
    EXPECT_TRUE(line.covers(1, 6));
    EXPECT_FALSE(line.covers(1, 7));
    EXPECT_FALSE(up_to_but(1, 9, 7).covers(up_to(1, 7)));
    EXPECT_TRUE(up_to(1, 9).covers(line));
    EXPECT_FALSE(line.covers(up_to(1, 9)));
}

TEST(TimelineTest, ForgettingWhatCameAfterForgetsWhatOfThatIsLeftOut) {
    Timeline line = up_to_but(1, 9, 7);
    line.lower(1, 6);
    EXPECT_FALSE(line.has_exceptions());
    EXPECT_TRUE(line.covers_up_to(1, 6));
}

}  // namespace
}  // namespace cuward
