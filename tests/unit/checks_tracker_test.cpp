// What the tracker reports, read back from its log: each rule with a program that breaks it and one
// that does not.
#include "core/tracker.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/log/log.hpp"

namespace cuward {
namespace {

using nlohmann::json;

constexpr ContextId kContext = 1;
constexpr StreamRef kFirst{kContext, StreamId{0x100}};
constexpr StreamRef kSecond{kContext, StreamId{0x200}};
constexpr StreamRef kBlocking{kContext, StreamId{0x300}};
constexpr StreamRef kLegacy{kContext, kLegacyStream};
constexpr Address kBlock = 0x7f0000000000;
constexpr std::uint64_t kBytes = 4096;
constexpr std::uint64_t kEvent = 0xe1;
constexpr Address kFlag = 0x7fff00000000;  ///< in a block of its own

class TrackerTest : public ::testing::Test {
  protected:
    TrackerTest() {
        tracker.stream_created(kFirst, false, site(1));
        tracker.stream_created(kSecond, false, site(2));
        tracker.stream_created(kBlocking, true, site(3));
    }
    ~TrackerTest() override { std::filesystem::remove_all(folder); }

    static CallSite site(std::uint32_t stack, const char* api = "cuTest") {
        return {.api = api, .stack = StackId{stack}, .thread = 1};
    }
    void allocate(Address ptr = kBlock, BlockKind kind = BlockKind::Device, StreamRef stream = {},
                  bool free_waits_for_device = true) {
        tracker.allocated({.kind = kind,
                           .ptr = ptr,
                           .bytes = kBytes,
                           .context = kContext,
                           .device = 0,
                           .stream = stream,
                           .free_waits_for_device = free_waits_for_device,
                           .resource_block = {},
                           .site = site(10)});
    }
    bool free(Address ptr = kBlock, FreeKind kind = FreeKind::Device, bool succeeded = true,
              StreamRef stream = {}) {
        PendingFree pending = tracker.begin_free(
            {.kind = kind, .ptr = ptr, .context = kContext, .stream = stream, .site = site(11)});
        const bool known = pending.block != 0;
        tracker.end_free(pending, succeeded);
        return known;
    }
    void run(const Operation& operation, bool succeeded = true) {
        PendingOperation pending;
        tracker.begin(operation, pending);
        tracker.end(pending, succeeded);
    }
    void copy(StreamRef stream, Access access, std::uint64_t lo = 0, std::uint64_t bytes = kBytes,
              Edge completion = Edge::None) {
        const MemoryAccess touched{ByteRange::linear(kBlock + lo, bytes), access};
        run({.kind = OperationKind::Copy,
             .api = "cuMemcpyAsync",
             .stream = stream,
             .stack = StackId{stack_of(stream, access)},
             .thread = 1,
             .accesses = {&touched, 1},
             .completion_to_host = completion});
    }
    void launch(StreamRef stream, Access access, std::uint64_t lo = 0, bool direction_known = true,
                bool succeeded = true) {
        const MemoryAccess touched{ByteRange::linear(kBlock + lo, 0), access, direction_known,
                                   false};
        run({.kind = OperationKind::Kernel,
             .api = "cuLaunchKernel",
             .stream = stream,
             .kernel = log.kernel("_Z1kPf"),
             .stack = StackId{stack_of(stream, access)},
             .thread = 1,
             .accesses = {&touched, 1}},
            succeeded);
    }
    /// A copy from the host that puts addresses at the start of a block.
    void upload_table(Address block, const std::vector<Address>& addresses) {
        std::vector<StoredAddress> stored;
        for (const Address address : addresses) {
            stored.push_back({.place = block + stored.size() * 8,
                              .value = address,
                              .begins_a_table = stored.empty()});
        }
        const MemoryAccess touched{ByteRange::linear(block, addresses.size() * 8), Access::Write};
        run({.kind = OperationKind::Copy,
             .api = "cuMemcpyHtoD",
             .stream = kFirst,
             .thread = 1,
             .accesses = {&touched, 1},
             .stored = stored,
             .completion_to_host = Edge::Documented});
    }
    /// A kernel that reads a table and uses what its pointers lead to.
    void launch_through(StreamRef stream, Address table, Access pointee,
                        bool pointee_known = true) {
        const MemoryAccess touched{.range = ByteRange::linear(table, 0),
                                   .access = Access::Read,
                                   .range_exact = false,
                                   .pointee = pointee,
                                   .pointee_known = pointee_known};
        run({.kind = OperationKind::Kernel,
             .api = "cuLaunchKernel",
             .stream = stream,
             .kernel = log.kernel("_Z1kPKPf"),
             .stack = StackId{stack_of(stream, pointee)},
             .thread = 1,
             .accesses = {&touched, 1}});
    }
    void order(StreamRef earlier, StreamRef later) {
        EventRecord record;
        tracker.begin_record(earlier, record);
        tracker.event_recorded(kEvent, earlier, record);
        tracker.begin_wait(later, kEvent, record);
        tracker.stream_waits(later, record);
    }
    void value(StreamRef stream, ValueKind kind, std::uint64_t number, Address flag = kFlag) {
        const ValueOperation operation{.kind = kind, .address = flag, .value = number};
        const MemoryAccess touched{.range = ByteRange::linear(flag, 4),
                                   .access = operation.is_write() ? Access::Write : Access::Read,
                                   .is_value = true};
        run({.kind = OperationKind::Values,
             .api = "cuStreamBatchMemOp",
             .stream = stream,
             .stack = StackId{90},
             .accesses = {&touched, 1},
             .values = {&operation, 1}});
    }
    static std::uint32_t stack_of(StreamRef stream, Access access) {
        return static_cast<std::uint32_t>(stream.stream) + static_cast<std::uint32_t>(access);
    }
    std::vector<json> records(const std::string& type) {
        std::ifstream file(log.path());
        std::vector<json> found;
        for (std::string line; std::getline(file, line);) {
            json record = json::parse(line);
            if (record["r"] == type) {
                found.push_back(std::move(record));
            }
        }
        return found;
    }
    /// "kind verdict hazard" of each finding.
    std::vector<std::string> found() {
        std::vector<std::string> out;
        for (const json& finding : records("finding")) {
            out.push_back(finding.value("kind", "") + " " + finding.value("verdict", "") +
                          (finding.contains("hazard") ? " " + finding.value("hazard", "") : ""));
        }
        return out;
    }
    using Names = std::vector<std::string>;

    std::string folder = [] {
        std::string name = (std::filesystem::temp_directory_path() / "cuwardXXXXXX").string();
        return std::string(mkdtemp(name.data()));
    }();
    Log log{folder + "/log.jsonl"};
    Tracker tracker{log};
};

TEST_F(TrackerTest, CopiesOnTwoStreamsRaceForCertain) {
    allocate();
    copy(kFirst, Access::Write);
    copy(kSecond, Access::Read);
    EXPECT_EQ(found(), (Names{"race proven RAW"}));
}

TEST_F(TrackerTest, CopiesOrderedByAnEventDoNotRace) {
    allocate();
    copy(kFirst, Access::Write);
    order(kFirst, kSecond);
    copy(kSecond, Access::Read);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, HazardsAreNamedEarlierFirst) {
    allocate();
    launch(kFirst, Access::Read);
    launch(kSecond, Access::Write);
    launch(kFirst, Access::Write);
    EXPECT_EQ(found(), (Names{"race likely WAR", "race likely WAW"}));
}

TEST_F(TrackerTest, AKernelOfUnknownDirectionRacesPossibly) {
    allocate();
    launch(kFirst, Access::ReadWrite, 0, false);
    launch(kSecond, Access::Read);
    EXPECT_EQ(found(), (Names{"race possible RAW"}));
}

TEST_F(TrackerTest, KernelsOnChunksOfOneBlockRacePossibly) {
    allocate();
    launch(kFirst, Access::Write, 0);
    launch(kSecond, Access::Write, 2048);
    EXPECT_EQ(found(), (Names{"race possible WAW"}));
}

TEST_F(TrackerTest, AKernelAtTheStartOfACopiedRangeRacesLikely) {
    allocate();
    copy(kFirst, Access::Write, 1024, 1024);
    launch(kSecond, Access::Read, 1024);
    EXPECT_EQ(found(), (Names{"race likely RAW"}));
}

TEST_F(TrackerTest, CopiesOfDisjointHalvesDoNotRace) {
    allocate();
    copy(kFirst, Access::Write, 0, 2048);
    copy(kSecond, Access::Write, 2048, 2048);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, OnePairOfPlacesIsOneFindingWithACount) {
    allocate();
    for (int i = 0; i < 5; ++i) {
        copy(kFirst, Access::Write);
        copy(kSecond, Access::Read);
        tracker.host_knows(tracker.work_of_context(kContext), Edge::Documented);
    }
    tracker.finish();
    EXPECT_EQ(found(), (Names{"race proven RAW"}));
    EXPECT_EQ(records("count").back()["count"], 5);
    EXPECT_EQ(tracker.totals().races, 1U);
}

TEST_F(TrackerTest, AFindingThatBecomesSurerIsLoggedAgain) {
    allocate();
    launch(kFirst, Access::Write, 0);
    launch(kSecond, Access::Write, 2048);
    tracker.host_knows(tracker.work_of_context(kContext), Edge::Documented);
    launch(kFirst, Access::Write, 0);
    launch(kSecond, Access::Write, 0);
    const auto findings = records("finding");
    EXPECT_EQ(found(), (Names{"race possible WAW", "race likely WAW"}));
    EXPECT_EQ(findings[0]["id"], findings[1]["id"]);
    EXPECT_EQ(tracker.totals().possible_races, 0U);
}

TEST_F(TrackerTest, ACopyKnownCompleteToTheHostOrdersLaterWork) {
    allocate();
    copy(kFirst, Access::Write, 0, kBytes, Edge::Documented);
    copy(kSecond, Access::Write);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, AFreeThatDoesNotWaitOrdersNothing) {
    constexpr Address kOther = kBlock + (1 << 20);
    allocate();
    allocate(kOther, BlockKind::Device, {}, false);
    launch(kFirst, Access::Write);
    free(kOther);
    launch(kSecond, Access::Write);
    EXPECT_EQ(found(), (Names{"race likely WAW"}));
}

TEST_F(TrackerTest, AFreeThatDoesNotWaitIsStillBehindTheUses) {
    allocate(kBlock, BlockKind::Device, {}, false);
    launch(kFirst, Access::Write);
    free();
    EXPECT_EQ(found(), (Names{"relies-on-implicit-sync likely"}));
}

TEST_F(TrackerTest, AnImplicitEdgeLeavesANote) {
    allocate();
    copy(kFirst, Access::Write, 0, kBytes, Edge::Implicit);
    copy(kSecond, Access::Write);
    EXPECT_EQ(found(), (Names{"relies-on-implicit-sync proven WAW"}));
    EXPECT_EQ(tracker.totals().races, 0U);
}

TEST_F(TrackerTest, AFailedLaunchMadeNoAccess) {
    allocate();
    launch(kFirst, Access::Write, 0, true, false);
    launch(kSecond, Access::Write);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, AFailedLaunchRacesWithNothing) {
    allocate();
    launch(kFirst, Access::Write);
    launch(kSecond, Access::Write, 0, true, false);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, CapturedCallsTouchNothing) {
    allocate();
    tracker.capture_began(kFirst);
    copy(kFirst, Access::Write);
    tracker.capture_ended(kFirst);
    copy(kSecond, Access::Write);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, TwoThreadsThatQueueConflictingWorkAtOnceAreSeen) {
    allocate();
    const MemoryAccess touched{ByteRange::linear(kBlock, kBytes), Access::Write};
    PendingOperation one;
    PendingOperation other;
    const auto copy_on = [&](StreamRef stream, std::uint32_t stack) {
        return Operation{.kind = OperationKind::Copy,
                         .api = "cuMemcpyAsync",
                         .stream = stream,
                         .stack = StackId{stack},
                         .thread = stack,
                         .accesses = {&touched, 1}};
    };
    tracker.begin(copy_on(kFirst, 1), one);
    tracker.begin(copy_on(kSecond, 2), other);
    tracker.end(other, true);
    tracker.end(one, true);
    EXPECT_EQ(found(), (Names{"race proven WAW"}));
}

TEST_F(TrackerTest, WhatOthersQueueWhileACopyIsAwaitedIsNotCovered) {
    allocate();
    PendingOperation awaited;
    tracker.begin({.kind = OperationKind::Copy,
                   .api = "cuMemcpyDtoH",
                   .stream = kLegacy,
                   .accesses = {},
                   .completion_to_host = Edge::Documented},
                  awaited);
    copy(kBlocking, Access::Write);
    copy(kLegacy, Access::Read);
    tracker.end(awaited, true);
    copy(kFirst, Access::Write);
    EXPECT_EQ(found(), (Names{"race proven WAW", "race proven WAR"}));
}

TEST_F(TrackerTest, CopiesOfOneBatchHaveNoOrder) {
    allocate();
    const auto batch = [&](std::uint64_t second) {
        const std::array<MemoryAccess, 2> touched{
            MemoryAccess{ByteRange::linear(kBlock, 100), Access::Write},
            MemoryAccess{ByteRange::linear(kBlock + second, 100), Access::Read}};
        run({.kind = OperationKind::Copy,
             .api = "cuMemcpyBatchAsync",
             .stream = kFirst,
             .thread = 1,
             .accesses = touched,
             .is_batch = true});
    };
    batch(100);
    EXPECT_EQ(found(), (Names{}));
    batch(99);
    EXPECT_EQ(found(), (Names{"race proven RAW"}));
}

constexpr Address kTable = kBlock + 0x10000;
constexpr Address kOtherTable = kBlock + 0x20000;

TEST_F(TrackerTest, AKernelMayTouchWhatItsTablePointsTo) {
    allocate();
    allocate(kTable);
    upload_table(kTable, {kBlock});
    launch(kFirst, Access::Write);
    launch_through(kSecond, kTable, Access::Read);
    EXPECT_EQ(found(), (Names{"race likely RAW"}));
}

TEST_F(TrackerTest, ReadersThroughOneTableDoNotRace) {
    allocate();
    allocate(kTable);
    upload_table(kTable, {kBlock});
    launch_through(kFirst, kTable, Access::Read);
    launch_through(kSecond, kTable, Access::Read);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, HowAKernelUsesWhatATableLeadsToMayBeUnknown) {
    allocate();
    allocate(kTable);
    upload_table(kTable, {kBlock});
    launch(kFirst, Access::Write);
    launch_through(kSecond, kTable, Access::ReadWrite, false);
    EXPECT_EQ(found(), (Names{"race possible WAW"}));
}

TEST_F(TrackerTest, ATableWrittenAnewPointsElsewhere) {
    allocate();
    allocate(kTable);
    upload_table(kTable, {kBlock});
    upload_table(kTable, {0});
    launch(kFirst, Access::Write);
    launch_through(kSecond, kTable, Access::ReadWrite);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, ACopyWithinTheDeviceTakesPointersAlong) {
    allocate();
    allocate(kTable);
    allocate(kOtherTable);
    upload_table(kTable, {0, kBlock});
    const std::array<MemoryAccess, 2> touched{
        MemoryAccess{ByteRange::linear(kTable + 8, 8), Access::Read},
        MemoryAccess{ByteRange::linear(kOtherTable, 8), Access::Write}};
    run({.kind = OperationKind::Copy,
         .api = "cuMemcpyDtoD",
         .stream = kFirst,
         .thread = 1,
         .accesses = touched,
         .completion_to_host = Edge::Documented});
    launch(kFirst, Access::Write);
    launch_through(kSecond, kOtherTable, Access::ReadWrite);
    EXPECT_EQ(found(), (Names{"race possible WAW"}));
}

TEST_F(TrackerTest, TheEndOfEitherBlockEndsWhatPointsToIt) {
    allocate();
    allocate(kTable);
    upload_table(kTable, {kBlock});
    free();
    launch_through(kFirst, kTable, Access::ReadWrite);
    allocate();
    launch(kSecond, Access::Write);
    launch_through(kFirst, kTable, Access::ReadWrite);
    free(kTable);
    allocate(kTable);
    launch_through(kFirst, kTable, Access::ReadWrite);
    EXPECT_EQ(found(), (Names{"relies-on-implicit-sync likely"}));  // of the table
}

TEST_F(TrackerTest, StructuresThatPointToEachOtherAreFollowedOnce) {
    allocate();
    allocate(kTable);
    allocate(kOtherTable);
    upload_table(kTable, {kOtherTable});
    upload_table(kOtherTable, {kTable, kBlock});
    launch(kFirst, Access::Write);
    launch_through(kSecond, kTable, Access::Read);
    EXPECT_EQ(found(), (Names{"race possible WAW"}));
}

TEST_F(TrackerTest, UseAfterFreeByCopyAndKernel) {
    allocate();
    EXPECT_TRUE(free());
    copy(kFirst, Access::Read);
    launch(kFirst, Access::Read);
    launch(kSecond, Access::Read, 8, false);
    EXPECT_EQ(found(),
              (Names{"use-after-free proven", "use-after-free likely", "use-after-free possible"}));
    EXPECT_EQ(tracker.totals().lifetime_errors, 2U);
}

TEST_F(TrackerTest, ACopyPastTheEndOfItsBlockIsOutOfBounds) {
    allocate();
    allocate(kBlock + kBytes);
    copy(kFirst, Access::Write, 16, kBytes - 15);
    EXPECT_EQ(found(), (Names{"out-of-bounds proven"}));
    const json finding = records("finding")[0];
    EXPECT_EQ(finding["accesses"][0]["range"], json::array({16, kBytes + 1}));
    EXPECT_EQ(finding["ptr"], "0x7f0000001000");
    EXPECT_EQ(tracker.totals().lifetime_errors, 1U);
}

TEST_F(TrackerTest, WhatAGraphDoesToNeighbouringBlocksIsInBounds) {
    allocate();
    allocate(kBlock + kBytes);
    Operation node;
    node.kind = OperationKind::Memset;
    node.api = "m";
    const auto launch = [&](StreamRef stream, std::uint64_t bytes) {
        const MemoryAccess joined{.range = ByteRange::linear(kBlock + 16, bytes),
                                  .access = Access::Write,
                                  .is_joined = true,
                                  .node = 1};
        run({.kind = OperationKind::Graph,
             .api = "cuGraphLaunch",
             .stream = stream,
             .accesses = {&joined, 1},
             .nodes = &node});
    };
    launch(kFirst, 2 * kBytes - 16);
    EXPECT_EQ(found(), (Names{}));
    copy(kSecond, Access::Write, kBytes);
    EXPECT_EQ(found(), (Names{"race proven WAW"}));
    EXPECT_EQ(tracker.totals().lifetime_errors, 0U);
    launch(kFirst, 2 * kBytes);
    EXPECT_EQ(tracker.totals().lifetime_errors, 1U);
}

TEST_F(TrackerTest, WhatEndsWithItsBlockIsInBounds) {
    allocate();
    copy(kFirst, Access::Write, 16, kBytes - 16);
    launch(kFirst, Access::Write, 16);
    const MemoryAccess rows{{.lo = kBlock + 256, .width = 256, .pitch = 512, .rows = 8},
                            Access::Write};
    run({.kind = OperationKind::Memset, .api = "m", .stream = kFirst, .accesses = {&rows, 1}});
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, RowsPastTheEndOfTheirBlockAreOutOfBounds) {
    allocate();
    const MemoryAccess rows{{.lo = kBlock + 256, .width = 257, .pitch = 512, .rows = 8},
                            Access::Write};
    run({.kind = OperationKind::Memset, .api = "m", .stream = kFirst, .accesses = {&rows, 1}});
    EXPECT_EQ(found(), (Names{"out-of-bounds proven"}));
}

TEST_F(TrackerTest, TheProgramsOwnMemoryGoesOnBehindRegisteredMemory) {
    allocate(kBlock, BlockKind::Registered);
    copy(kFirst, Access::Read, 0, 2 * kBytes);
    EXPECT_EQ(found(), (Names{}));
}

class GuardedTracker : public TrackerTest {
  protected:
    GuardedTracker() {
        tracker.remember_recent_uses();
        tracker.allocated({.kind = BlockKind::Device,
                           .ptr = kBlock,
                           .bytes = kBytes,
                           .context = kContext,
                           .device = 0,
                           .stream = {},
                           .resource_block = id(),
                           .site = site(10)});
    }
    static BlockId id(std::uint64_t generation = 7) {
        return BlockId(
            DeviceBlock{.ptr = kBlock, .device_ordinal = 0, .generation = Generation{generation}});
    }
    static std::vector<std::uint32_t> stacks_of(const json& finding) {
        std::vector<std::uint32_t> stacks;
        for (const json& access : finding["accesses"]) {
            stacks.push_back(access["stack"].get<std::uint32_t>());
        }
        return stacks;
    }
    using Stacks = std::vector<std::uint32_t>;
};

TEST_F(GuardedTracker, ABrokenCanaryNamesTheLastFourPlacesThatTouchedTheBlock) {
    copy(kBlocking, Access::Write);
    launch(kFirst, Access::Read);
    launch(kFirst, Access::Write);
    launch(kSecond, Access::Read);
    launch(kSecond, Access::Write);
    launch(kFirst, Access::Read);
    tracker.written_out_of_bounds(id(), kBlock + kBytes + 3);
    const json finding = records("finding").back();
    EXPECT_EQ(finding["kind"], "out-of-bounds");
    EXPECT_EQ(finding["verdict"], "proven");
    EXPECT_EQ(finding["found_by"], "canary");
    EXPECT_EQ(finding["ptr"], "0x7f0000001003");
    EXPECT_EQ(stacks_of(finding),
              (Stacks{stack_of(kFirst, Access::Write), stack_of(kSecond, Access::Read),
                      stack_of(kSecond, Access::Write), stack_of(kFirst, Access::Read)}));
}

TEST_F(GuardedTracker, ABrokenCanaryIsReportedWhileAndAfterTheBlockIsFreed) {
    PendingFree pending = tracker.begin_free({.kind = FreeKind::Device,
                                              .ptr = kBlock,
                                              .context = kContext,
                                              .stream = {},
                                              .site = site(11)});
    tracker.written_out_of_bounds(id(), kBlock - 1);
    tracker.end_free(pending, true);
    tracker.written_out_of_bounds(id(), kBlock - 1);
    tracker.written_out_of_bounds(id(8), kBlock - 1);
    tracker.finish();
    EXPECT_EQ(found(), (Names{"out-of-bounds proven"}));
    EXPECT_EQ(stacks_of(records("finding")[0]), (Stacks{10})) << "nothing else is known";
    EXPECT_EQ(records("count").back()["count"], 2) << "another generation is another block";
}

TEST_F(GuardedTracker, ACopyThatHasBeenReportedIsNotReportedForTheCanaryAsWell) {
    copy(kFirst, Access::Write, 16, kBytes);
    tracker.written_out_of_bounds(id(), kBlock + kBytes);
    EXPECT_TRUE(records("count").empty());
    tracker.written_out_of_bounds(id(), kBlock - 8);
    EXPECT_EQ(records("count").size(), 1U) << "the copy was not before the block";
}

TEST_F(GuardedTracker, AWriteAfterFreeNamesTheFreeAndTheLastOperations) {
    copy(kFirst, Access::Write, 0, kBytes, Edge::Documented);
    EXPECT_TRUE(free());
    tracker.written_after_free(id(8), kBlock);
    tracker.written_after_free(id(), kBlock + 8);
    ASSERT_EQ(found(), (Names{"use-after-free proven"}));
    const json finding = records("finding")[0];
    EXPECT_EQ(finding["found_by"], "poison");
    EXPECT_EQ(stacks_of(finding), (Stacks{11, stack_of(kFirst, Access::Write)}));
}

TEST_F(GuardedTracker, PoisonProvesWhatACallMadeLikely) {
    EXPECT_TRUE(free());
    launch(kFirst, Access::Write);
    tracker.written_after_free(id(), kBlock);
    EXPECT_EQ(found(), (Names{"use-after-free likely", "use-after-free proven"}));
    EXPECT_EQ(records("finding")[0]["id"], records("finding")[1]["id"]);
}

TEST_F(GuardedTracker, FindsTheBlocksOfResourcesByAnyAddressInThem) {
    const auto block = tracker.find_owned(kBlock + kBytes - 1);
    ASSERT_TRUE(block);
    EXPECT_EQ(BlockId(*block), id());
    EXPECT_EQ(block->bytes, kBytes);
    EXPECT_FALSE(tracker.find_owned(kBlock + kBytes));
    allocate(kBlock + 2 * kBytes);
    EXPECT_FALSE(tracker.find_owned(kBlock + 2 * kBytes)) << "the driver's own";
}

TEST_F(GuardedTracker, KnowsWhetherAnythingIsCaptured) {
    EXPECT_FALSE(tracker.is_capturing());
    tracker.capture_began(kFirst);
    EXPECT_TRUE(tracker.is_capturing());
    tracker.capture_ended(kFirst);
    EXPECT_FALSE(tracker.is_capturing());
}

TEST_F(TrackerTest, AReusedAddressIsNotUsedAfterFree) {
    allocate();
    free();
    allocate();
    copy(kFirst, Access::Read);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, AFailedFreeLeavesTheBlockLive) {
    allocate();
    free(kBlock, FreeKind::Device, false);
    copy(kFirst, Access::Read);
    EXPECT_EQ(found(), (Names{}));
    EXPECT_EQ(tracker.totals().live_blocks, 1U);
}

TEST_F(TrackerTest, DoubleFree) {
    allocate();
    free();
    EXPECT_FALSE(free(kBlock, FreeKind::Device, false));
    EXPECT_EQ(found(), (Names{"double-free proven"}));
}

TEST_F(TrackerTest, InvalidFreeOfAnInteriorPointerAndOfTheWrongKind) {
    allocate();
    free(kBlock + 16, FreeKind::Device, false);
    free(kBlock, FreeKind::Host, false);
    const auto findings = records("finding");
    ASSERT_EQ(findings.size(), 1U) << "one place frees both";
    EXPECT_EQ(findings[0]["kind"], "invalid-free");
    EXPECT_EQ(findings[0]["block"], 1);
}

TEST_F(TrackerTest, AFreeTheDriverAcceptsIsNotInvalidThoughTheBlockIsUnknown) {
    free(kBlock, FreeKind::Device, true);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, StreamOrderedMemoryIsUsedBeforeItsAllocation) {
    allocate(kBlock, BlockKind::Async, kFirst);
    copy(kSecond, Access::Write);
    EXPECT_EQ(found(), (Names{"use-before-alloc proven"}));
}

TEST_F(TrackerTest, StreamOrderedMemoryIsUsedInOrder) {
    allocate(kBlock, BlockKind::Async, kFirst);
    copy(kFirst, Access::Write);
    order(kFirst, kSecond);
    copy(kSecond, Access::Write);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, StreamOrderedFreeOnAnotherStreamInFlight) {
    allocate(kBlock, BlockKind::Async, kFirst);
    copy(kFirst, Access::Write);
    free(kBlock, FreeKind::Async, true, kSecond);
    EXPECT_EQ(found(), (Names{"freed-in-flight proven"}));
}

TEST_F(TrackerTest, StreamOrderedFreeOnItsStreamIsInOrder) {
    allocate(kBlock, BlockKind::Async, kFirst);
    copy(kFirst, Access::Write);
    free(kBlock, FreeKind::Async, true, kFirst);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, SynchronousFreeOfPoolMemoryDoesNotWait) {
    allocate(kBlock, BlockKind::Async, kFirst);
    copy(kFirst, Access::Write);
    free();
    EXPECT_EQ(found(), (Names{"freed-in-flight proven"}));
}

TEST_F(TrackerTest, FreeOfOrdinaryMemoryWaitsInPracticeOnly) {
    allocate();
    copy(kFirst, Access::Write);
    free();
    EXPECT_EQ(found(), (Names{"relies-on-implicit-sync proven"}));
    EXPECT_EQ(tracker.totals().lifetime_errors, 0U);
}

TEST_F(TrackerTest, FreeAfterSynchronizationIsClean) {
    allocate();
    copy(kFirst, Access::Write);
    tracker.host_knows(tracker.work_of_stream(kFirst), Edge::Documented);
    free();
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, AnEndedContextEndsItsBlocks) {
    allocate();
    int forgotten = 0;
    tracker.context_ended(kContext, site(5, "cuCtxDestroy"), [&](const BlockId&) { ++forgotten; });
    EXPECT_EQ(tracker.totals().live_blocks, 0U);
    EXPECT_EQ(forgotten, 0) << "no resource owned it";
    EXPECT_EQ(records("free").size(), 1U);
}

TEST_F(TrackerTest, BlockingStreamIsOrderedByTheLegacyStreamAndANonBlockingOneIsNot) {
    allocate();
    copy(kLegacy, Access::Write);
    copy(kBlocking, Access::Read);
    EXPECT_EQ(found(), (Names{}));
    copy(kFirst, Access::Read);
    EXPECT_EQ(found(), (Names{"race proven RAW"}));
}

TEST_F(TrackerTest, RangesAreLoggedFromTheStartOfTheBlock) {
    allocate();
    copy(kFirst, Access::Write, 1024, 512);
    launch(kSecond, Access::Read, 1024);
    const json accesses = records("finding").at(0)["accesses"];
    EXPECT_EQ(accesses[0]["range"], (json{1024, 1536}));
    EXPECT_EQ(accesses[1]["range"], (json{1024, 4096}));
}

TEST_F(TrackerTest, EachThreadHasItsOwnPerThreadStream) {
    allocate();
    const StreamRef per_thread{kContext, kPerThreadStream};
    copy(per_thread, Access::Write);
    copy(per_thread, Access::Write);
    EXPECT_EQ(found(), (Names{}));
    std::thread([&] { copy(per_thread, Access::Read); }).join();
    EXPECT_EQ(found(), (Names{"race proven RAW"}));
}

TEST_F(TrackerTest, ManyThreadsAtOnce) {
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            const Address mine = kBlock + (t + 1) * 0x10000;
            const StreamRef stream{kContext, StreamId{0x1000 + t}};
            tracker.stream_created(stream, false, site(1));
            for (int i = 0; i < 500; ++i) {
                allocate(mine);
                const MemoryAccess touched{ByteRange::linear(mine, 0), Access::Write, true, false};
                run({.kind = OperationKind::Kernel,
                     .api = "cuLaunchKernel",
                     .stream = stream,
                     .stack = StackId{t + 1},
                     .thread = t,
                     .accesses = {&touched, 1}});
                tracker.host_knows(tracker.work_of_stream(stream), Edge::Documented);
                free(mine);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(found(), (Names{}));
    EXPECT_EQ(tracker.totals().live_blocks, 0U);
    EXPECT_EQ(tracker.totals().live_bytes, 0U);
}

TEST_F(TrackerTest, AWaitForAValueComesAfterTheWriteThatSatisfiesIt) {
    allocate();
    allocate(kFlag);
    copy(kFirst, Access::Write);
    value(kFirst, ValueKind::Write, 1);
    value(kSecond, ValueKind::WaitEqual, 1);
    copy(kSecond, Access::Read);
    EXPECT_EQ(found(), (Names{}));
}

TEST_F(TrackerTest, AWaitForAValueComesAfterNothingElse) {
    allocate();
    allocate(kFlag);
    value(kFirst, ValueKind::Write, 1);
    copy(kFirst, Access::Write);
    value(kSecond, ValueKind::WaitEqual, 1);
    copy(kSecond, Access::Read);
    EXPECT_EQ(found(), (Names{"race proven RAW"}));
}

TEST_F(TrackerTest, AWaitMayBeQueuedBeforeTheWrite) {
    allocate();
    allocate(kFlag);
    value(kSecond, ValueKind::WaitEqual, 1);
    copy(kSecond, Access::Read, 0, 8);
    copy(kFirst, Access::Write);
    value(kFirst, ValueKind::Write, 1);
    copy(kSecond, Access::Write);
    EXPECT_TRUE(found().empty() || found() == (Names{"relies-on-implicit-sync proven WAR"}));
}

TEST_F(TrackerTest, WhatFollowsTheWriteDoesNotComeBeforeTheWait) {
    allocate();
    allocate(kFlag);
    value(kSecond, ValueKind::WaitEqual, 1);
    value(kFirst, ValueKind::Write, 1);
    copy(kSecond, Access::Read);
    copy(kFirst, Access::Write);
    EXPECT_EQ(found(), (Names{"race proven WAR"}));
}

TEST_F(TrackerTest, AValueOfUnknownOriginIsAnImplicitOrder) {
    allocate();
    allocate(kFlag);
    copy(kFirst, Access::Write);
    value(kSecond, ValueKind::WaitEqual, 1);
    copy(kSecond, Access::Read);
    EXPECT_EQ(found(), (Names{"relies-on-implicit-sync proven RAW"}));
}

TEST_F(TrackerTest, TheHostMayChangeWhatItCanReach) {
    allocate();
    allocate(kFlag, BlockKind::Host);
    value(kFirst, ValueKind::Write, 1);
    copy(kFirst, Access::Write);
    value(kSecond, ValueKind::WaitEqual, 1);
    copy(kSecond, Access::Read);
    EXPECT_EQ(found(), (Names{"relies-on-implicit-sync proven RAW"}));
}

TEST_F(TrackerTest, AStreamMayWaitForOnePlaceAgainAndAgain) {
    allocate();
    allocate(kFlag, BlockKind::Host);
    for (std::uint64_t number = 1; number <= 3; ++number) {
        value(kSecond, ValueKind::WaitGreaterOrEqual, number);
    }
    copy(kSecond, Access::Read);
    value(kFirst, ValueKind::Write, 2);
    copy(kFirst, Access::Write);
    EXPECT_EQ(found(), (Names{"relies-on-implicit-sync proven WAR"}));
    value(kFirst, ValueKind::Write, 3);
    copy(kFirst, Access::Write);
    EXPECT_EQ(found(), (Names{"relies-on-implicit-sync proven WAR", "race proven WAR"}));
}

TEST_F(TrackerTest, AMemsetOverAValueRacesWithItsWrite) {
    allocate();
    value(kFirst, ValueKind::Write, 1, kBlock);
    value(kSecond, ValueKind::Write, 2, kBlock);
    copy(kSecond, Access::Write);
    EXPECT_EQ(found(), (Names{"race proven WAW"}));
}

TEST_F(TrackerTest, AKernelMayWaitForAValueItself) {
    allocate();
    value(kFirst, ValueKind::Write, 1, kBlock);
    launch(kSecond, Access::Read);
    EXPECT_EQ(found(), (Names{"race possible RAW"}));
}

TEST_F(TrackerTest, AnEventOfALaunchDoesNotCoverTheKernel) {
    for (const bool starts : {false, true}) {
        const Address block = kBlock + (starts ? 0x100000000 : 0);
        allocate(block);
        const MemoryAccess touched{ByteRange::linear(block, 0), Access::Write, true, false};
        run({.kind = OperationKind::Kernel,
             .api = "cuLaunchKernelEx",
             .stream = kFirst,
             .stack = StackId{1},
             .accesses = {&touched, 1},
             .trigger_event = starts ? 0 : kEvent,
             .start_event = starts ? kEvent : 0});
        EventRecord record;
        tracker.begin_wait(kSecond, kEvent, record);
        tracker.stream_waits(kSecond, record);
        const MemoryAccess later{ByteRange::linear(block, 8), Access::Read};
        run({.kind = OperationKind::Copy,
             .api = "cuMemcpyAsync",
             .stream = kSecond,
             .stack = StackId{2},
             .accesses = {&later, 1}});
    }
    EXPECT_EQ(found(), (Names{"relies-on-implicit-sync likely RAW", "race likely RAW"}));
}

}  // namespace
}  // namespace cuward
