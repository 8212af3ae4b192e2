// What enforce mode asks of the driver around the program's calls, call by call.
#include "core/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/unit/scripted_driver.hpp"

namespace cuward::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Calls = std::vector<std::string>;

constexpr Address kBlock = 0x7f0000000000;
constexpr Address kOther = 0x7f0000100000;
constexpr std::uint64_t kBytes = 4096;
constexpr std::uint64_t kEvent = 0xe1;
constexpr StreamRef kA{kContext, StreamId{10}};
constexpr StreamRef kB{kContext, StreamId{20}};
constexpr StreamRef kC{kContext, StreamId{30}};
constexpr StreamRef kLegacy{kContext, kLegacyStream};
constexpr Settings kEnforce{.mode = Mode::Enforce, .budget = {}};
constexpr Settings kAll{.mode = Mode::Enforce, .enforce_all = true, .budget = {}};
constexpr Settings kExact{.mode = Mode::Enforce, .enforce_exact = true, .budget = {}};

class RepairTest : public ::testing::Test {
  protected:
    RepairTest() { use(kEnforce); }
    ~RepairTest() override {
        session.reset();
        EXPECT_EQ(driver.live_events(), 0U);
        EXPECT_EQ(driver.violations(), 0);
        std::filesystem::remove_all(folder);
    }

    void use(const Settings& settings) {
        session.reset();
        std::filesystem::remove(folder + "/log.jsonl");
        session = std::make_unique<Session>(driver.api, folder + "/log.jsonl", settings);
        for (const StreamRef& stream : {kA, kB, kC}) {
            tracker().stream_created(stream, false, {});
        }
        allocate(kBlock, BlockKind::Managed, {});
        allocate(kOther, BlockKind::Managed, {});
    }
    Tracker& tracker() { return session->tracker(); }

    void allocate(Address ptr, BlockKind kind, StreamRef stream, const BlockId& owned = {}) {
        tracker().allocated({.kind = kind,
                             .ptr = ptr,
                             .bytes = kBytes,
                             .context = kContext,
                             .device = 0,
                             .stream = stream,
                             .resource_block = owned,
                             .site = {}});
    }
    DeviceBlock allocate_owned() {
        const auto block = session->resource(0)->allocate(kBytes, kNoStream, AllocTag{});
        EXPECT_TRUE(block);
        allocate(block->ptr, BlockKind::Device, {}, BlockId(*block));
        driver.take_calls();
        return *block;
    }

    void begin(StreamRef stream, Access access, PendingOperation& pending, Address ptr = kBlock,
               std::uint64_t bytes = kBytes, bool is_exact = true) {
        const MemoryAccess touched{ByteRange::linear(ptr, bytes), access, true, is_exact};
        session->begin({.kind = OperationKind::Copy,
                        .api = "cuMemcpyAsync",
                        .stream = stream,
                        .stack = StackId{static_cast<std::uint32_t>(stream.stream)},
                        .accesses = {&touched, 1}},
                       pending);
    }
    Calls run(StreamRef stream, Access access, Address ptr = kBlock, std::uint64_t bytes = kBytes) {
        PendingOperation pending;
        begin(stream, access, pending, ptr, bytes);
        session->end(pending, true);
        return driver.take_calls();
    }
    void order(StreamRef earlier, StreamRef later) {
        EventRecord record;
        tracker().begin_record(earlier, record);
        tracker().event_recorded(kEvent, earlier, record);
        tracker().begin_wait(later, kEvent, record);
        tracker().stream_waits(later, record);
    }
    bool free(Address ptr, FreeKind kind, StreamRef stream) {
        PendingFree pending = session->begin_free(
            {.kind = kind, .ptr = ptr, .context = kContext, .stream = stream, .site = {}});
        const bool is_behind_stream = pending.is_behind_stream;
        tracker().end_free(pending, true);
        return is_behind_stream;
    }

    static Calls record_and_wait(const std::string& event, const std::string& earlier,
                                 const std::string& later) {
        return {"cuCtxGetCurrent()", "cuEventCreate()",
                "cuEventRecord(" + event + ", " + earlier + ")",
                "cuStreamWaitEvent(" + later + ", " + event + ")"};
    }
    static Calls mark(const std::string& event, const std::string& stream) {
        Calls calls = record_and_wait(event, stream, "");
        calls.pop_back();
        return calls;
    }
    /// "kind repaired/count" of each finding, after the end.
    std::vector<std::string> findings() {
        session->finish();
        std::map<int, std::pair<std::string, std::pair<int, int>>> found;
        std::ifstream file(session->log().path());
        for (std::string line; std::getline(file, line);) {
            const auto record = nlohmann::json::parse(line);
            if (record["r"] == "finding") {
                found[record["id"]] = {record["kind"], {record.value("repaired", 0), 1}};
            } else if (record["r"] == "count") {
                found[record["finding"]].second = {record.value("repaired", 0), record["count"]};
            }
        }
        std::vector<std::string> lines;
        for (const auto& [id, finding] : found) {
            const auto& [repaired, count] = finding.second;
            lines.push_back(finding.first + " " + std::to_string(repaired) + "/" +
                            std::to_string(count));
        }
        return lines;
    }

    std::string folder = [] {
        std::string name = (std::filesystem::temp_directory_path() / "cuwardXXXXXX").string();
        return std::string(mkdtemp(name.data()));
    }();
    ScriptedDriver driver;
    std::unique_ptr<Session> session;
};

TEST_F(RepairTest, QueuesTheWaitBeforeTheOperation) {
    EXPECT_THAT(run(kA, Access::Write), IsEmpty());
    PendingOperation pending;
    begin(kB, Access::Read, pending);
    EXPECT_EQ(driver.take_calls(), record_and_wait("e1", "s10", "s20"));
    session->end(pending, true);
    EXPECT_THAT(driver.take_calls(), IsEmpty());
    EXPECT_THAT(findings(), ElementsAre("race 1/1"));
    EXPECT_EQ(session->order().waits(), 1U);
}

TEST_F(RepairTest, QueuesNothingThatTheProgramOrders) {
    run(kA, Access::Write);
    order(kA, kB);
    EXPECT_THAT(run(kB, Access::ReadWrite), IsEmpty());
    tracker().host_knows(tracker().work_of_stream(kB), Edge::Documented);
    EXPECT_THAT(run(kC, Access::Write), IsEmpty());
    EXPECT_THAT(findings(), IsEmpty());
    EXPECT_EQ(session->order().waits(), 0U);
}

TEST_F(RepairTest, AnImplicitOrderIsOneToo) {
    run(kA, Access::Write);
    tracker().host_knows(tracker().work_of_stream(kA), Edge::Implicit);
    EXPECT_THAT(run(kB, Access::Read), IsEmpty());
}

TEST_F(RepairTest, OneWaitCoversAllThatWasQueuedAndStaysAFindingEachTime) {
    run(kA, Access::Write, kBlock);
    run(kA, Access::Write, kOther);
    EXPECT_EQ(run(kB, Access::Read, kBlock), record_and_wait("e1", "s10", "s20"));
    EXPECT_THAT(run(kB, Access::Read, kOther), IsEmpty());
    EXPECT_THAT(run(kB, Access::Read, kBlock), IsEmpty());
    EXPECT_THAT(findings(), ElementsAre("race 3/3"));
}

TEST_F(RepairTest, OneEventServesEveryWaiter) {
    run(kA, Access::Write);
    EXPECT_EQ(run(kB, Access::Read), record_and_wait("e1", "s10", "s20"));
    EXPECT_THAT(run(kC, Access::Read), ElementsAre("cuStreamWaitEvent(s30, e1)"));
}

TEST_F(RepairTest, WaitsForEachStreamOnce) {
    run(kA, Access::Read);
    run(kB, Access::Read);
    Calls expected = record_and_wait("e1", "s10", "s30");
    for (const std::string& call : record_and_wait("e2", "s20", "s30")) {
        expected.push_back(call);
    }
    EXPECT_EQ(run(kC, Access::Write), expected);
    EXPECT_THAT(findings(), ElementsAre("race 1/1", "race 1/1"));
}

TEST_F(RepairTest, DisjointBytesNeedNoWait) {
    run(kA, Access::Write, kBlock, 1024);
    EXPECT_THAT(run(kB, Access::Write, kBlock + 1024, 1024), IsEmpty());
}

TEST_F(RepairTest, PossibleRacesOnlyWhenAskedFor) {
    for (const bool all : {false, true}) {
        use(all ? kAll : kEnforce);
        PendingOperation pending;
        begin(kA, Access::Write, pending, kBlock, 0, false);
        session->end(pending, true);
        begin(kB, Access::Write, pending, kBlock + 1024, 0, false);
        session->end(pending, true);
        EXPECT_EQ(session->order().waits(), all ? 1U : 0U);
        driver.take_calls();
    }
}

TEST_F(RepairTest, EnforceAllOrdersEveryUseOfABlock) {
    use(kAll);
    const DeviceBlock block = allocate_owned();
    run(kA, Access::Write, block.ptr, 1024);
    EXPECT_EQ(run(kB, Access::Write, block.ptr + 1024, 1024), record_and_wait("e1", "s10", "s20"));
    EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(RepairTest, ResourcesWaitOnlyForWhatIsMissingByDefault) {
    const DeviceBlock block = allocate_owned();
    run(kA, Access::Write, block.ptr, 1024);
    EXPECT_THAT(run(kB, Access::Write, block.ptr + 1024, 1024), IsEmpty());
    EXPECT_EQ(run(kC, Access::Read, block.ptr, 1024), record_and_wait("e1", "s10", "s30"));
}

TEST_F(RepairTest, ExactMarksEachUseAndWaitsForThatOneAlone) {
    use(kExact);
    EXPECT_EQ(run(kA, Access::Write, kBlock), mark("e1", "s10"));
    EXPECT_EQ(run(kA, Access::Write, kOther), mark("e2", "s10"));
    EXPECT_THAT(run(kB, Access::Read, kBlock),
                ElementsAre("cuStreamWaitEvent(s20, e1)", "cuCtxGetCurrent()", "cuEventCreate()",
                            "cuEventRecord(e3, s20)"));
}

TEST_F(RepairTest, MarksAreBounded) {
    use(kExact);
    for (int i = 0; i < 1000; ++i) {
        run(kA, Access::Write);
    }
    EXPECT_LE(driver.live_events(), 32U);
    EXPECT_THAT(run(kB, Access::Read).front(), ::testing::StartsWith("cuStreamWaitEvent(s20, "));
}

TEST_F(RepairTest, WhoWaitsForTheDeviceLearnsNothingOfCallsUnderWay) {
    run(kB, Access::Read);
    Operation operation;
    operation.api = "cuLaunchKernel";
    operation.stream = kA;
    PendingOperation under_way;
    session->begin(operation, under_way);
    const Clock waited_for = tracker().work_of_context(kContext);
    session->end(under_way, true);
    tracker().host_knows(waited_for, Edge::Documented);
    EXPECT_FALSE(tracker().comes_after({.lane = under_way.slot, .position = under_way.epoch},
                                       {.stream = kNoStream}));
    tracker().host_knows(tracker().work_of_context(kContext), Edge::Documented);
    EXPECT_TRUE(tracker().comes_after({.lane = under_way.slot, .position = under_way.epoch},
                                      {.stream = kNoStream}));
}

TEST_F(RepairTest, AStreamIsMarkedBeforeItIsDestroyed) {
    run(kA, Access::Write);
    session->order().before_loss(kA);
    EXPECT_EQ(driver.take_calls(), mark("e1", "s10"));
    tracker().stream_destroyed(kA);
    EXPECT_THAT(run(kB, Access::Read), ElementsAre("cuStreamWaitEvent(s20, e1)"));
}

TEST_F(RepairTest, AStreamWithoutWorkIsNotMarked) {
    session->order().before_loss(kA);
    run(kB, Access::Write);
    tracker().host_knows(tracker().work_of_stream(kB), Edge::Documented);
    session->order().before_loss(kB);
    EXPECT_THAT(driver.take_calls(), IsEmpty());
}

TEST_F(RepairTest, NothingIsRecordedOnAStreamThatHasEnded) {
    run(kA, Access::Write);
    tracker().stream_destroyed(kA);
    EXPECT_THAT(run(kB, Access::Read), IsEmpty());
    EXPECT_THAT(findings(), ElementsAre("race 0/1"));
}

TEST_F(RepairTest, WorkFromBeforeACaptureIsWaitedForByItsMark) {
    run(kA, Access::Write);
    session->order().before_loss(kA);
    EXPECT_EQ(driver.take_calls(), mark("e1", "s10"));
    tracker().capture_began(kA);
    session->order().after_loss(kA);
    EXPECT_THAT(run(kA, Access::Write), IsEmpty());
    EXPECT_THAT(run(kB, Access::Read), ElementsAre("cuStreamWaitEvent(s20, e1)"));
}

TEST_F(RepairTest, ACaptureThatDoesNotBeginLosesNothing) {
    session->order().before_loss(kA);
    session->order().after_loss(kA);
    run(kA, Access::Write);
    EXPECT_EQ(run(kB, Access::Read), record_and_wait("e1", "s10", "s20"));
}

TEST_F(RepairTest, NoCallOnADefaultStreamDuringTheCaptureOfABlockingStream) {
    constexpr StreamRef kBlocking{kContext, StreamId{0x30}};
    tracker().stream_created(kBlocking, true, {});
    run(kLegacy, Access::Write);
    session->order().before_loss(kBlocking);
    EXPECT_THAT(run(kB, Access::Read), IsEmpty());
    tracker().capture_began(kBlocking);
    session->order().after_loss(kBlocking);
    EXPECT_THAT(run(kB, Access::Read), IsEmpty());
    tracker().capture_ended(kBlocking);
    EXPECT_EQ(run(kB, Access::Read), record_and_wait("e1", "legacy", "s20"));
    EXPECT_THAT(findings(), ElementsAre("race 1/3"));
}

TEST_F(RepairTest, TheCaptureOfANonBlockingStreamLeavesTheDefaultStreamsAlone) {
    run(kLegacy, Access::Write);
    session->order().before_loss(kA);
    EXPECT_EQ(run(kB, Access::Read), record_and_wait("e1", "legacy", "s20"));
    tracker().capture_began(kA);
    session->order().after_loss(kA);
    run(kLegacy, Access::Write);
    EXPECT_EQ(run(kB, Access::Read), record_and_wait("e3", "legacy", "s20"));
    EXPECT_THAT(findings(), ElementsAre("race 2/2", "race 1/1"));
}

TEST_F(RepairTest, TheEventOfAPerThreadStreamIsRecordedOnTheLegacyStream) {
    run({kContext, kPerThreadStream}, Access::Write);
    EXPECT_EQ(run(kB, Access::Read), record_and_wait("e1", "legacy", "s20"));
}

TEST_F(RepairTest, AnEventBelongsToTheContextOfItsStream) {
    driver.set_context(kOtherContext);
    run(kA, Access::Write);
    EXPECT_THAT(
        run(kB, Access::Read),
        ElementsAre("cuCtxGetCurrent()", "cuCtxPushCurrent(0xc1000)", "cuEventCreate()",
                    "cuEventRecord(e1, s10)", "cuCtxPopCurrent()", "cuStreamWaitEvent(s20, e1)"));
}

TEST_F(RepairTest, EventsOfAnEndedContextAreForgotten) {
    run(kA, Access::Write);
    run(kB, Access::Read);
    session->context_ended(kContext, {});
    driver.take_calls();
    session.reset();
    EXPECT_THAT(driver.take_calls(), IsEmpty());
    EXPECT_EQ(driver.live_events(), 1U);
    driver.api.event_destroy(reinterpret_cast<CUevent>(1));
}

TEST_F(RepairTest, AWaitThatTheDriverRefusesIsNoRepair) {
    run(kA, Access::Write);
    driver.fail_next("cuStreamWaitEvent", CUDA_ERROR_INVALID_HANDLE);
    run(kB, Access::Read);
    driver.fail_next("cuEventRecord", CUDA_ERROR_INVALID_HANDLE);
    run(kA, Access::Write, kOther);
    run(kC, Access::Read, kOther);
    EXPECT_EQ(session->order().waits(), 0U);
    EXPECT_THAT(findings(), ElementsAre("race 0/1", "race 0/1"));
}

TEST_F(RepairTest, AnOperationThatFailsIsNoFinding) {
    run(kA, Access::Write);
    PendingOperation pending;
    begin(kB, Access::Read, pending);
    session->end(pending, false);
    EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(RepairTest, AUseWaitsForTheAllocation) {
    allocate(0x7f0000200000, BlockKind::Async, kA);
    EXPECT_EQ(run(kB, Access::Write, 0x7f0000200000), record_and_wait("e1", "s10", "s20"));
    EXPECT_THAT(findings(), ElementsAre("use-before-alloc 1/1"));
}

TEST_F(RepairTest, AFreeOnAnotherStreamWaitsForTheUses) {
    constexpr Address kPooled = 0x7f0000200000;
    allocate(kPooled, BlockKind::Async, kA);
    run(kA, Access::Write, kPooled);
    EXPECT_FALSE(free(kPooled, FreeKind::Async, kB));
    EXPECT_EQ(driver.take_calls(), record_and_wait("e1", "s10", "s20"));
    EXPECT_THAT(findings(), ElementsAre("freed-in-flight 1/1"));
}

TEST_F(RepairTest, PoolMemoryInUseIsFreedOnItsStream) {
    constexpr Address kPooled = 0x7f0000200000;
    allocate(kPooled, BlockKind::Async, kA);
    order(kA, kB);
    run(kB, Access::Write, kPooled);
    EXPECT_TRUE(free(kPooled, FreeKind::Device, {}));
    EXPECT_EQ(driver.take_calls(), record_and_wait("e1", "s20", "s10"));
    EXPECT_THAT(findings(), ElementsAre("freed-in-flight 1/1"));
}

TEST_F(RepairTest, PoolMemoryOfACapturedStreamIsFreedAsTheProgramSays) {
    constexpr Address kPooled = 0x7f0000200000;
    allocate(kPooled, BlockKind::Async, kA);
    run(kA, Access::Write, kPooled);
    tracker().capture_began(kA);
    EXPECT_FALSE(free(kPooled, FreeKind::Device, {}));
    EXPECT_THAT(driver.take_calls(), IsEmpty());
    EXPECT_THAT(findings(), ElementsAre("freed-in-flight 0/1"));
}

TEST_F(RepairTest, PoolMemoryThatTheHostHasSeenIsFreedAsTheProgramSays) {
    constexpr Address kPooled = 0x7f0000200000;
    allocate(kPooled, BlockKind::Async, kA);
    run(kA, Access::Write, kPooled);
    tracker().host_knows(tracker().work_of_stream(kA), Edge::Documented);
    EXPECT_FALSE(free(kPooled, FreeKind::Device, {}));
    EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(RepairTest, ACallUnderWayInAnotherThreadIsWaitedFor) {
    PendingOperation first;
    begin(kA, Access::Write, first);
    std::thread later([&] { run(kB, Access::Read); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_THAT(driver.take_calls(), IsEmpty());
    session->end(first, true);
    later.join();
    EXPECT_EQ(session->order().waits(), 1U);
    EXPECT_THAT(findings(), ElementsAre("race 1/1"));
}

TEST_F(RepairTest, ACallHeldBackIsWaitedForOnce) {
    PendingOperation held_back;
    begin(kA, Access::Write, held_back);
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
        EXPECT_THAT(run(kB, Access::Read), IsEmpty());
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
    session->end(held_back, true);
    EXPECT_EQ(run(kB, Access::Read), record_and_wait("e1", "s10", "s20"));
    EXPECT_THAT(findings(), ElementsAre("race 1/21"));
}

TEST_F(RepairTest, AnEventDoesNotCoverACallUnderWayInAnotherThread) {
    PendingOperation under_way;
    begin(kA, Access::Write, under_way);
    order(kA, kB);
    session->end(under_way, true);
    EXPECT_EQ(run(kB, Access::Read), record_and_wait("e1", "s10", "s20"));
    EXPECT_THAT(findings(), ElementsAre("race 1/1"));
}

TEST_F(RepairTest, CallsOfTheLegacyAndABlockingStreamTakeTurnsByThemselves) {
    constexpr StreamRef kBlocking{kContext, StreamId{0x30}};
    tracker().stream_created(kBlocking, true, {});
    PendingOperation under_way;
    begin(kLegacy, Access::Write, under_way);
    EXPECT_THAT(run(kBlocking, Access::Write), IsEmpty());
    order(kBlocking, kB);
    session->end(under_way, true);
    EXPECT_EQ(run(kB, Access::Read), record_and_wait("e1", "legacy", "s20"));
    EXPECT_THAT(findings(), ElementsAre("race 1/1"));
}

TEST_F(RepairTest, WhoseTurnComesFirstDoesNotComeAfterWhatTheOtherWaitsFor) {
    constexpr StreamRef kBlocking{kContext, StreamId{0x30}};
    constexpr StreamRef kOtherBlocking{kContext, StreamId{0x40}};
    tracker().stream_created(kBlocking, true, {});
    tracker().stream_created(kOtherBlocking, true, {});
    run(kOtherBlocking, Access::Write);
    PendingOperation under_way;
    begin(kLegacy, Access::Write, under_way);
    EXPECT_EQ(run(kBlocking, Access::Write), record_and_wait("e1", "s64", "s48"));
    session->end(under_way, true);
    EXPECT_THAT(findings(), ElementsAre("race 1/1"));
}

TEST_F(RepairTest, NobodyIsMadeToWaitBehindAValueStillToBeWritten) {
    const auto value = [&](StreamRef stream, ValueKind kind) {
        const ValueOperation operation{.kind = kind, .address = kOther, .value = 1};
        PendingOperation pending;
        session->begin({.kind = OperationKind::Values,
                        .api = "cuStreamBatchMemOp",
                        .stream = stream,
                        .values = {&operation, 1}},
                       pending);
        session->end(pending, true);
        return driver.take_calls();
    };
    allocate(kOther, BlockKind::Device, {});
    run(kB, Access::Read);
    EXPECT_EQ(value(kB, ValueKind::WaitEqual), mark("e1", "s20"));
    run(kB, Access::Write, kBlock + 2048, 8);
    EXPECT_THAT(run(kA, Access::Write), ElementsAre("cuStreamWaitEvent(s10, e1)"));
    value(kA, ValueKind::Write);
    EXPECT_THAT(run(kB, Access::Read), IsEmpty());
    EXPECT_EQ(run(kA, Access::Write), record_and_wait("e2", "s20", "s10"));
}

TEST_F(RepairTest, CheckModeCallsNothing) {
    use({});
    run(kA, Access::Write);
    EXPECT_THAT(run(kB, Access::Read), IsEmpty());
    session->order().before_loss(kA);
    EXPECT_THAT(driver.take_calls(), IsEmpty());
    EXPECT_THAT(findings(), ElementsAre("race 0/1"));
}

TEST_F(RepairTest, ManyThreadsRaceAndDestroyStreams) {
    driver.stop_recording();
    for (const Settings& settings : {kEnforce, kAll, kExact}) {
        use(settings);
        std::vector<std::thread> threads;
        for (std::uint64_t number = 1; number <= 6; ++number) {
            threads.emplace_back([&, number] {
                const StreamRef own{kContext, StreamId{100 + number}};
                for (int i = 0; i < 200; ++i) {
                    tracker().stream_created(own, false, {});
                    PendingOperation pending;
                    begin(own, Access::Write, pending, i % 2 == 0 ? kBlock : kOther);
                    session->end(pending, i % 7 != 0);
                    session->order().before_loss(own);
                    tracker().stream_destroyed(own);
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        EXPECT_GT(session->order().waits(), 0U);
    }
}

}  // namespace
}  // namespace cuward::testing
