// The copy table and the measured table of what orders GPU work, line by line.
#include "cupti/copy_edges.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace cuward::cupti {
namespace {

constexpr auto kDevice = MemoryType::Device;
constexpr auto kManaged = MemoryType::Managed;
constexpr auto kPinned = MemoryType::Pinned;
constexpr auto kPageable = MemoryType::Pageable;
constexpr auto kSync = CallForm::Synchronous;
constexpr auto kAsync = CallForm::Async;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct Line {
    const char* rule;
    CallForm form;
    MemoryType source;
    MemoryType destination;
    std::uint64_t bytes;
    Edge earlier_work;
    Edge completion;
};
std::ostream& operator<<(std::ostream& out, const Line& line) {
    return out << line.rule;
}

class CopyEdges : public testing::TestWithParam<Line> {};

TEST_P(CopyEdges, Hold) {
    const Line& line = GetParam();
    const HostEdges edges = copy_edges(line.form, line.source, line.destination, line.bytes);
    EXPECT_EQ(edges.earlier_work, line.earlier_work);
    EXPECT_EQ(edges.completion, line.completion);
}

constexpr Edge kNo = Edge::None;
constexpr Edge kYes = Edge::Documented;
constexpr Edge kInPractice = Edge::Implicit;

INSTANTIATE_TEST_SUITE_P(
    CopyTable, CopyEdges,
    testing::Values(
        Line{"device to pageable, completes", kSync, kDevice, kPageable, 4, kYes, kYes},
        Line{"device to pinned, completes", kSync, kDevice, kPinned, 4, kYes, kYes},
        Line{"pinned to device, completes", kSync, kPinned, kDevice, 4, kYes, kYes},
        Line{"pageable to device, staged: only earlier work", kSync, kPageable, kDevice, 4, kYes,
             kNo},
        Line{"large pageable to device, the same", kSync, kPageable, kDevice, 32 * kMiB, kYes, kNo},
        Line{"device to device, nothing", kSync, kDevice, kDevice, 4, kNo, kNo},
        Line{"pageable to pageable, completes", kSync, kPageable, kPageable, 4, kYes, kYes},
        Line{"pinned to pageable, completes", kSync, kPinned, kPageable, 4, kYes, kYes},
        Line{"pinned to pinned, completes", kSync, kPinned, kPinned, 4, kYes, kYes},
        Line{"async device to pageable, in practice", kAsync, kDevice, kPageable, 4, kInPractice,
             kInPractice},
        Line{"async device to pinned, nothing", kAsync, kDevice, kPinned, 4, kNo, kNo},
        Line{"async pinned to device, nothing", kAsync, kPinned, kDevice, 4, kNo, kNo},
        Line{"async large pinned to device, nothing", kAsync, kPinned, kDevice, 32 * kMiB, kNo,
             kNo},
        Line{"async pageable to device up to 1 MiB, nothing", kAsync, kPageable, kDevice, kMiB, kNo,
             kNo},
        Line{"async large pageable to device, earlier work in practice", kAsync, kPageable, kDevice,
             32 * kMiB, kInPractice, kNo},
        Line{"async device to device, nothing", kAsync, kDevice, kDevice, 4, kNo, kNo},
        Line{"async host to host, in practice", kAsync, kPageable, kPageable, 4, kInPractice,
             kInPractice},
        Line{"async pinned to pinned, in practice", kAsync, kPinned, kPinned, 4, kInPractice,
             kInPractice},
        Line{"managed counts as device", kSync, kManaged, kPageable, 4, kYes, kYes},
        Line{"pageable to managed, staged", kSync, kPageable, kManaged, 4, kYes, kNo}));

TEST(MemsetEdges, OnlySynchronousOnesOfPinnedAndManagedMemoryComplete) {
    const HostEdges complete{kYes, kYes};
    EXPECT_EQ(memset_edges(kSync, kDevice), HostEdges{});
    EXPECT_EQ(memset_edges(kSync, kPinned), complete);
    EXPECT_EQ(memset_edges(kSync, kManaged), complete);
    EXPECT_EQ(memset_edges(kAsync, kDevice), HostEdges{});
    EXPECT_EQ(memset_edges(kAsync, kPinned), HostEdges{});
    EXPECT_EQ(memset_edges(kAsync, kManaged), HostEdges{});
}

}  // namespace
}  // namespace cuward::cupti
