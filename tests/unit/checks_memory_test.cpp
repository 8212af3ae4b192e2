// Memory that is more than one address and one free: arrays, mappings, imported memory, variables.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/log/log.hpp"
#include "core/tracker.hpp"

namespace cuward {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

constexpr ContextId kContext = 1;
constexpr StreamRef kFirst{kContext, StreamId{0x100}};
constexpr StreamRef kSecond{kContext, StreamId{0x200}};
constexpr Address kFront = 0x7f0000000000;
constexpr Address kBack = 0x7f1000000000;
constexpr std::uint64_t kBytes = 4096;
constexpr Address kHandle = 7;

class MemoryTest : public ::testing::Test {
  protected:
    MemoryTest() {
        tracker.stream_created(kFirst, false, site(1));
        tracker.stream_created(kSecond, false, site(2));
    }
    ~MemoryTest() override { std::filesystem::remove_all(folder); }

    static CallSite site(std::uint32_t stack) {
        return {.api = "cuTest", .stack = StackId{stack}, .thread = 1};
    }
    static Allocation memory(BlockKind kind, Address ptr) {
        Allocation allocation;
        allocation.kind = kind;
        allocation.ptr = ptr;
        allocation.bytes = kBytes;
        allocation.context = kContext;
        allocation.site = site(10);
        return allocation;
    }
    void touch(StreamRef stream, const MemoryAccess& access) {
        PendingOperation pending;
        tracker.begin({.kind = OperationKind::Copy,
                       .api = "cuTest",
                       .stream = stream,
                       .stack = StackId{static_cast<std::uint32_t>(stream.stream)},
                       .thread = 1,
                       .accesses = {&access, 1}},
                      pending);
        tracker.end(pending, true);
    }
    void write(StreamRef stream, Address lo, std::uint64_t bytes) {
        touch(stream, {.range = ByteRange::linear(lo, bytes), .access = Access::Write});
    }
    void launch(StreamRef stream, Address pointer) {
        touch(stream, {.range = {.lo = pointer}, .access = Access::Write, .range_exact = false});
    }
    bool unmap(Address ptr, std::uint64_t bytes) {
        const PendingUnmap pending = tracker.begin_unmap(ptr, bytes, site(20));
        tracker.end_unmap(pending, true, false);
        return !pending.mappings.empty();
    }
    bool free(FreeKind kind, Address ptr) {
        PendingFree pending = tracker.begin_free(
            {.kind = kind, .ptr = ptr, .context = kContext, .stream = {}, .site = site(21)});
        const bool known = pending.block != 0;
        tracker.end_free(pending, true);
        return known;
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
    /// "kind verdict" of each finding.
    Names found() {
        Names out;
        for (const json& finding : records("finding")) {
            out.push_back(finding.value("kind", "") + " " + finding.value("verdict", ""));
        }
        return out;
    }

    std::string folder = [] {
        std::string name = (std::filesystem::temp_directory_path() / "cuwardXXXXXX").string();
        return std::string(mkdtemp(name.data()));
    }();
    Log log{folder + "/log.jsonl"};
    Tracker tracker{log};
};

TEST_F(MemoryTest, TwoMappingsOfOneMemoryAreOneMemory) {
    tracker.allocated(memory(BlockKind::Physical, kHandle));
    tracker.mapped(kFront, kBytes, kHandle, 0);
    tracker.mapped(kBack, kBytes / 2, kHandle, kBytes / 2);
    write(kFirst, kFront, kBytes / 2);
    write(kSecond, kBack, 64);
    EXPECT_EQ(found(), Names{}) << "other halves of it";
    write(kSecond, kBack, 64);
    write(kFirst, kFront + kBytes / 2 + 32, 64);
    EXPECT_EQ(found(), Names{"race proven"});
}

TEST_F(MemoryTest, ACopyGoesOnFromOneMappingToTheNext) {
    tracker.allocated(memory(BlockKind::Physical, kHandle));
    tracker.allocated(memory(BlockKind::Physical, kHandle + 1));
    tracker.mapped(kFront, kBytes, kHandle, 0);
    tracker.mapped(kFront + kBytes, kBytes, kHandle + 1, 0);
    write(kFirst, kFront + 64, kBytes);
    write(kSecond, kFront + kBytes + 64, 64);
    EXPECT_EQ(found(), Names{}) << "behind what was written";
    write(kSecond, kFront + kBytes, 64);
    EXPECT_EQ(found(), Names{"race proven"});
}

TEST_F(MemoryTest, APointerMayLeadIntoTheNextMapping) {
    tracker.allocated(memory(BlockKind::Physical, kHandle));
    tracker.allocated(memory(BlockKind::Physical, kHandle + 1));
    tracker.mapped(kFront, kBytes, kHandle, 0);
    tracker.mapped(kFront + kBytes, kBytes, kHandle + 1, 0);
    launch(kFirst, kFront);
    write(kSecond, kFront + kBytes, 64);
    EXPECT_EQ(found(), Names{"race possible"});
}

TEST_F(MemoryTest, AMulticastObjectIsAllMemoryThatIsBoundToIt) {
    constexpr Address kObject = 20;
    tracker.allocated(memory(BlockKind::Physical, kHandle));
    tracker.allocated(memory(BlockKind::Physical, kHandle + 1));
    tracker.multicast_created(kObject, kBytes);
    tracker.multicast_bound(kObject, 0, kHandle, 0, kBytes);
    tracker.mapped(kBack, kBytes, kHandle + 1, 0);
    tracker.multicast_bound(kObject, 0, 0, kBack, kBytes);
    tracker.mapped(kFront, kBytes, kObject, 0);
    write(kFirst, kFront + 64, 64);
    write(kSecond, kBack, 64);
    EXPECT_EQ(found(), Names{}) << "in front of it";
    write(kSecond, kBack + 64, 64);
    EXPECT_EQ(found(), Names{"race proven"});
    tracker.multicast_unbound(kObject, -1, 0, kBytes);
    write(kFirst, kFront + 64, 64);
    EXPECT_EQ(records("count").size(), 0U) << "nothing is bound any more";
}

TEST_F(MemoryTest, UnmappedAddressesMustNotBeUsed) {
    tracker.allocated(memory(BlockKind::Physical, kHandle));
    tracker.mapped(kFront, kBytes, kHandle, 0);
    EXPECT_TRUE(unmap(kFront, kBytes));
    write(kFirst, kFront, 64);
    EXPECT_EQ(found(), Names{"use-after-free proven"});
    tracker.mapped(kFront, kBytes, kHandle, 0);
    write(kFirst, kFront, 64);
    EXPECT_EQ(found().size(), 1U) << "mapped again";
}

TEST_F(MemoryTest, UnmappingDoesNotWaitUnlessTheMemoryHasAnotherAddress) {
    tracker.allocated(memory(BlockKind::Physical, kHandle));
    tracker.mapped(kFront, kBytes, kHandle, 0);
    tracker.mapped(kBack, kBytes, kHandle, 0);
    write(kFirst, kFront, 64);
    unmap(kBack, kBytes);
    EXPECT_EQ(found(), Names{});
    unmap(kFront, kBytes);
    EXPECT_EQ(found(), Names{"freed-in-flight proven"});
}

TEST_F(MemoryTest, PhysicalMemoryEndsWithItsLastReferenceAndMapping) {
    tracker.allocated(memory(BlockKind::Physical, kHandle));
    tracker.mapped(kFront, kBytes, kHandle, 0);
    tracker.physical_retained(kHandle, kFront);
    tracker.physical_released(kHandle, site(20));
    tracker.physical_released(kHandle, site(20));
    EXPECT_EQ(tracker.totals().live_blocks, 1U) << "still mapped";
    unmap(kFront, kBytes);
    EXPECT_EQ(tracker.totals().live_blocks, 0U);
    tracker.physical_released(kHandle, site(20));
    EXPECT_EQ(records("free").size(), 1U);
}

TEST_F(MemoryTest, TheSizeOfImportedMemoryShowsWhenItIsMapped) {
    Allocation imported = memory(BlockKind::Physical, kHandle);
    imported.bytes = 0;
    imported.is_imported = true;
    tracker.allocated(imported);
    tracker.mapped(kFront, kBytes, kHandle, 0);
    write(kFirst, kFront, 64);
    write(kSecond, kFront, 64);
    EXPECT_EQ(found(), Names{"race likely"}) << "other processes may order it";
}

TEST_F(MemoryTest, TheDeviceAddressOfPinnedMemoryIsTheSameMemory) {
    tracker.allocated(memory(BlockKind::Host, kFront));
    tracker.has_device_address(kFront + 16, kBack + 16);
    EXPECT_TRUE(tracker.may_be_tracked(kBack));
    const auto block = tracker.find_block(kBack);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->kind, BlockKind::Host);
    EXPECT_EQ(block->end, kBack + kBytes);
    EXPECT_TRUE(block->is_alias);
    EXPECT_FALSE(tracker.find_block(kFront)->is_alias);
    launch(kFirst, kBack);
    write(kSecond, kFront, 64);
    EXPECT_EQ(found(), Names{"race likely"});
    free(FreeKind::Host, kFront);
    EXPECT_FALSE(tracker.find_block(kBack));
}

TEST_F(MemoryTest, CopiesReachOverRegisteredRangesAndIntoThem) {
    tracker.allocated(memory(BlockKind::Registered, kFront));
    tracker.allocated(memory(BlockKind::Registered, kFront + kBytes));
    write(kFirst, kFront + 64, kBytes);
    write(kSecond, kFront + kBytes - 64, 128);
    EXPECT_EQ(records("count").size() + found().size(), 2U) << "in both ranges";
    write(kSecond, kFront - 128, 64);
    write(kFirst, kFront - 128, 64);
    EXPECT_EQ(records("count").size() + found().size(), 2U) << "in front of them";
}

TEST_F(MemoryTest, CopiesMayStartInFrontOfARegisteredRange) {
    tracker.allocated(memory(BlockKind::Registered, kFront));
    write(kFirst, kFront - 64, 128);
    write(kSecond, kFront, 64);
    EXPECT_EQ(found(), Names{"race proven"});
}

TEST_F(MemoryTest, AHandleOpenedTwiceIsClosedTwice) {
    Allocation opened = memory(BlockKind::Ipc, kFront);
    opened.is_imported = true;
    tracker.allocated(opened);
    tracker.allocated(opened);
    EXPECT_EQ(tracker.totals().live_blocks, 1U);
    free(FreeKind::Ipc, kFront);
    EXPECT_EQ(tracker.totals().live_blocks, 1U);
    EXPECT_TRUE(free(FreeKind::Ipc, kFront));
    EXPECT_EQ(tracker.totals().live_blocks, 0U);
    write(kFirst, kFront, 64);
    EXPECT_EQ(found(), Names{"use-after-free likely"});
}

TEST_F(MemoryTest, VariablesEndWithTheirCodeAndAreNobodysToFree) {
    constexpr std::uint64_t kModule = 5;
    Allocation variable = memory(BlockKind::Global, kFront);
    variable.owner = kModule;
    tracker.variable_found(variable);
    tracker.variable_found(variable);
    EXPECT_EQ(records("alloc").size(), 1U);
    EXPECT_EQ(tracker.totals().live_blocks, 0U);
    EXPECT_FALSE(free(FreeKind::Device, kFront));
    write(kFirst, kFront, 64);
    write(kSecond, kFront, 64);
    EXPECT_EQ(found(), Names{"race proven"});
    tracker.code_unloading(kModule, site(20));
    write(kSecond, kFront, 64);
    EXPECT_EQ(found(), (Names{"race proven", "use-after-free proven"}));
}

TEST_F(MemoryTest, ArraysAreFoundByHandleAndByThatOfALevel) {
    Allocation array = memory(BlockKind::MipmappedArray, kHandle);
    array.layout = {.element_bytes = 4, .width = 16, .rows = 8, .is_known = true};
    array.bytes = array.layout.bytes() + array.layout.next_level().bytes();
    tracker.allocated(array);
    const auto whole = tracker.find_array(kHandle);
    ASSERT_TRUE(whole);
    tracker.array_level(kHandle + 1, kHandle, 1);
    const auto level = tracker.find_array(kHandle + 1);
    ASSERT_TRUE(level);
    EXPECT_EQ(level->range, ByteRange::linear(whole->range.lo + 16 * 8 * 4, 8 * 4 * 4));
    EXPECT_EQ(level->layout.width, 8U);

    write(kFirst, level->range.lo, 4);
    launch(kSecond, whole->range.lo);
    EXPECT_EQ(found(), Names{"race possible"});
    EXPECT_TRUE(free(FreeKind::MipmappedArray, kHandle));
    EXPECT_FALSE(tracker.find_array(kHandle + 1));
    launch(kSecond, whole->range.lo);
    EXPECT_EQ(found().back(), "use-after-free likely");
}

}  // namespace
}  // namespace cuward
