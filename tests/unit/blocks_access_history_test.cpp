#include "core/blocks/access_history.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace cuward {
namespace {

PastAccess access(StreamSlot slot, Epoch epoch, Access kind, Address lo = 0,
                  std::uint64_t bytes = 100) {
    PastAccess made;
    made.range = ByteRange::linear(lo, bytes);
    made.slot = slot;
    made.epoch = epoch;
    made.access = kind;
    return made;
}

class AccessHistoryTest : public ::testing::Test {
  protected:
    std::vector<Epoch> add(const PastAccess& next, const Clock& clock = {}) {
        Clock own = clock;
        own.raise(next.slot, next.epoch);
        std::vector<Epoch> found;
        history.add(next, own, host, calls,
                    [&](const PastAccess& earlier) { found.push_back(earlier.epoch); });
        return found;
    }

    AccessHistory history;
    Clock host;
    CallsUnderWay calls;
};

TEST_F(AccessHistoryTest, AReadMeetsAnUnorderedWrite) {
    add(access(0, 1, Access::Write));
    EXPECT_EQ(add(access(1, 1, Access::Read)).size(), 1U);
}

TEST_F(AccessHistoryTest, ReadsDoNotMeet) {
    add(access(0, 1, Access::Read));
    EXPECT_TRUE(add(access(1, 1, Access::Read)).empty());
}

TEST_F(AccessHistoryTest, AWriteMeetsEveryOutstandingRead) {
    add(access(0, 1, Access::Read));
    add(access(1, 2, Access::Read));
    EXPECT_EQ(add(access(2, 1, Access::Write)).size(), 2U);
}

TEST_F(AccessHistoryTest, OrderedAccessesDoNotMeet) {
    add(access(0, 1, Access::Write));
    Clock waited;
    waited.raise(0, 1);
    EXPECT_TRUE(add(access(1, 1, Access::Read), waited).empty());
}

TEST_F(AccessHistoryTest, DisjointBytesDoNotMeet) {
    add(access(0, 1, Access::Write, 0, 50));
    EXPECT_TRUE(add(access(1, 1, Access::Write, 50, 50)).empty());
}

TEST_F(AccessHistoryTest, AWriteReplacesWhatItCovers) {
    add(access(0, 1, Access::Write));
    add(access(0, 2, Access::Read));
    add(access(0, 3, Access::Write));
    EXPECT_EQ(history.size(), 1U);
    EXPECT_EQ(add(access(1, 1, Access::Read)), (std::vector<Epoch>{3}));
}

TEST_F(AccessHistoryTest, AReadDoesNotReplaceAWrite) {
    add(access(0, 1, Access::Write));
    add(access(0, 2, Access::Read));
    EXPECT_EQ(add(access(1, 1, Access::Read)), (std::vector<Epoch>{1}));
}

TEST_F(AccessHistoryTest, AWriteThatDoesNotCoverReplacesNothing) {
    add(access(0, 1, Access::Write, 0, 100));
    add(access(0, 2, Access::Write, 0, 10));
    EXPECT_EQ(add(access(1, 1, Access::Read, 50, 10)), (std::vector<Epoch>{1}));
}

TEST_F(AccessHistoryTest, AnUnorderedWriteIsKeptBesideANewerOne) {
    add(access(0, 1, Access::Write));
    add(access(1, 1, Access::Write));
    Clock knows_second;
    knows_second.raise(1, 1);
    EXPECT_EQ(add(access(2, 1, Access::Read), knows_second).size(), 1U);
}

TEST_F(AccessHistoryTest, AGuessDoesNotReplaceKnowledge) {
    add(access(0, 1, Access::Write));
    PastAccess guess = access(0, 2, Access::ReadWrite);
    guess.direction_known = false;
    guess.range_exact = false;
    add(guess);
    EXPECT_EQ(add(access(1, 1, Access::Read)), (std::vector<Epoch>{1, 2}));
}

TEST_F(AccessHistoryTest, WhatTheHostKnowsCompleteIsForgotten) {
    add(access(0, 1, Access::Write));
    host.raise(0, 1);
    EXPECT_TRUE(add(access(1, 1, Access::Write)).empty());
    EXPECT_EQ(history.size(), 1U);
}

TEST_F(AccessHistoryTest, MemoryIsBounded) {
    for (Epoch epoch = 1; epoch <= 10 * AccessHistory::kMost; ++epoch) {
        add(access(0, epoch, Access::Write, epoch * 1000, 10));
    }
    EXPECT_EQ(history.size(), AccessHistory::kMost);
}

TEST_F(AccessHistoryTest, AWithdrawnAccessNeverHappened) {
    add(access(0, 1, Access::Write));
    history.withdraw(0, 1);
    EXPECT_TRUE(add(access(1, 1, Access::Write)).empty());
}

TEST_F(AccessHistoryTest, WhatAWithdrawnAccessStoodForCountsAgain) {
    add(access(0, 1, Access::Write));
    add(access(0, 2, Access::Write));
    EXPECT_EQ(history.size(), 1U);
    history.withdraw(0, 2);
    EXPECT_EQ(add(access(1, 1, Access::Read)), (std::vector<Epoch>{1}));
}

TEST_F(AccessHistoryTest, AnAccessThatIsStoodForMeetsNothing) {
    add(access(0, 1, Access::Write));
    add(access(0, 2, Access::Write));
    EXPECT_EQ(add(access(1, 1, Access::Read)), (std::vector<Epoch>{2}));
    history.for_each_outstanding(Timeline{}, [](const PastAccess& outstanding) {
        EXPECT_FALSE(outstanding.slot == 0 && outstanding.epoch == 1);
    });
}

TEST_F(AccessHistoryTest, WhatACallUnderWayStandsForCountsUntilThatReturns) {
    Clock knows_first;
    knows_first.raise(0, 1);
    add(access(0, 1, Access::Write));
    add(access(1, 1, Access::Write), knows_first);
    calls.add(1, 1);
    EXPECT_EQ(add(access(2, 1, Access::Read)).size(), 2U);
    calls.remove(1, 1);
    EXPECT_EQ(add(access(2, 2, Access::Read)).size(), 1U);
}

/// Accesses of kernels as the history should know them: those of one stream in their order, which
/// may stand for one another, until another stream meets them.
class KernelsOfOneStream {
  public:
    void add(const PastAccess& next) {
        for (Known& known : known_) {
            const PastAccess& earlier = known.access;
            if (known.replaced_by == 0 && earlier.range.lo == next.range.lo &&
                next.direction_known >= earlier.direction_known &&
                (writes(next.access) || !writes(earlier.access))) {
                known.replaced_by = next.epoch;
            }
        }
        known_.push_back({next, 0});
    }
    void withdraw(Epoch epoch) {
        std::erase_if(known_, [&](const Known& known) { return known.access.epoch == epoch; });
        for (Known& known : known_) {
            known.replaced_by = known.replaced_by == epoch ? 0 : known.replaced_by;
        }
    }
    std::multiset<Epoch> met_by_a_write() const {
        std::multiset<Epoch> met;
        for (const Known& known : known_) {
            if (known.replaced_by == 0) {
                met.insert(known.access.epoch);
            }
        }
        return met;
    }

  private:
    struct Known {
        PastAccess access;
        Epoch replaced_by;
    };
    std::vector<Known> known_;
};

TEST(AccessHistoryOfKernels, KnowsThoseThatNoOtherStandsFor) {
    std::mt19937 random(1);
    const auto below = [&](unsigned limit) { return random() % limit; };
    for (int round = 0; round < 300; ++round) {
        AccessHistory history;
        KernelsOfOneStream expected;
        Clock clock;
        const Epoch kernels = 1 + below(40);
        for (Epoch epoch = 1; epoch <= kernels; ++epoch) {
            clock.raise(0, epoch);
            for (unsigned pointers = 1 + below(3); pointers > 0; --pointers) {
                const Address lo = below(5) * 10;
                PastAccess next =
                    access(0, epoch, below(2) ? Access::Read : Access::ReadWrite, lo, 100 - lo);
                next.range_exact = false;
                next.direction_known = below(3) != 0;
                history.add(next, clock, Clock{}, CallsUnderWay{},
                            [](const PastAccess&) { FAIL(); });
                expected.add(next);
            }
            if (below(5) == 0) {
                history.withdraw(0, epoch);
                expected.withdraw(epoch);
            }
        }
        std::multiset<Epoch> met;
        Clock other;
        other.raise(1, 1);
        history.add(access(1, 1, Access::Write), other, Clock{}, CallsUnderWay{},
                    [&](const PastAccess& earlier) { met.insert(earlier.epoch); });
        ASSERT_EQ(met, expected.met_by_a_write()) << "round " << round;
    }
}

}  // namespace
}  // namespace cuward
