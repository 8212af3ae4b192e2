// What a launch of a graph touches, through everything that can be done to the graph before.
#include "core/graphs/graphs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace cuward {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GraphHandle kGraph{0x10};
constexpr GraphHandle kOther{0x20};
constexpr ExecHandle kExec{0x30};
constexpr NodeHandle kFirst{0x41};
constexpr NodeHandle kSecond{0x42};

SharedGraphWork work(std::initializer_list<MemoryAccess> accesses) {
    auto made = std::make_shared<GraphWork>();
    made->operation.api = "cuLaunchKernel";
    made->accesses = accesses;
    return made;
}

MemoryAccess pointer(Address address, Access access = Access::Write) {
    return {.range = {.lo = address}, .access = access, .range_exact = false};
}

class GraphsTest : public testing::Test {
  protected:
    std::vector<Address> touched(ExecHandle exec = kExec) {
        std::vector<Address> starts;
        const auto launch = graphs.launch(exec).touched;
        for (const MemoryAccess& access : launch->accesses) {
            starts.push_back(access.range.lo);
        }
        return starts;
    }
    void build() {
        graphs.created(kGraph, {});
        graphs.node_added(kGraph, kFirst, work({pointer(1)}));
        graphs.node_added(kGraph, kSecond, work({pointer(2)}));
    }

    Graphs graphs;
};

TEST_F(GraphsTest, ALaunchTouchesWhatTheNodesDo) {
    build();
    graphs.instantiated(kGraph, kExec, {});
    EXPECT_THAT(touched(), ElementsAre(1, 2));
}

TEST_F(GraphsTest, UnknownGraphsTouchNothing) {
    EXPECT_THAT(touched(), IsEmpty());
    graphs.instantiated(kGraph, kExec, {});
    EXPECT_THAT(touched(), IsEmpty());
    graphs.node_changed(kFirst, work({pointer(1)}));
    graphs.node_changed(kExec, kFirst, work({pointer(1)}));
    graphs.node_enabled(kExec, kFirst, true);
    graphs.node_destroyed(kFirst);
    graphs.updated(ExecHandle{0x99}, kGraph, {});
    graphs.capture_ended(7, kGraph);
    EXPECT_THAT(touched(), IsEmpty());
}

TEST_F(GraphsTest, ACaptureBecomesAGraphWhenItEnds) {
    graphs.captured(1, kFirst, work({pointer(1)}));
    graphs.captured(2, kSecond, work({pointer(2)}));
    graphs.capture_ended(1, kGraph);
    graphs.capture_failed(2);
    graphs.capture_ended(2, kOther);
    graphs.instantiated(kGraph, kExec, {});
    EXPECT_THAT(touched(), ElementsAre(1));
    graphs.instantiated(kOther, kExec, {});
    EXPECT_THAT(touched(), IsEmpty());
}

TEST_F(GraphsTest, ACaptureAddsToTheNodesThatAreThere) {
    graphs.node_added(kGraph, kFirst, work({pointer(1)}));
    graphs.captured(1, kUnknownNode, work({pointer(2)}));
    graphs.captured(1, kUnknownNode, work({pointer(3)}));
    graphs.capture_ended(1, kGraph);
    graphs.instantiated(kGraph, kExec, {});
    EXPECT_THAT(touched(), ElementsAre(1, 2, 3));
}

TEST_F(GraphsTest, EqualAccessesCountOnce) {
    graphs.node_added(kGraph, kFirst, work({pointer(1), pointer(1), pointer(1, Access::Read)}));
    graphs.node_added(kGraph, kSecond, work({pointer(1), pointer(2)}));
    graphs.instantiated(kGraph, kExec, {});
    const auto launch = graphs.launch(kExec).touched;
    EXPECT_THAT(touched(), ElementsAre(1, 1, 2));
    ASSERT_EQ(launch->nodes.size(), 2U);
    EXPECT_EQ(launch->accesses[0].node, 1U);
    EXPECT_EQ(launch->accesses[1].node, 1U);
    EXPECT_EQ(launch->accesses[2].node, 2U);
}

TEST_F(GraphsTest, ChunksCapturedInOnePlaceAreOneRange) {
    for (const Address chunk : {0, 16, 8, 4}) {
        graphs.node_added(kGraph, kUnknownNode, work({{.range = ByteRange::linear(chunk, 8)}}));
    }
    graphs.node_added(kGraph, kUnknownNode, work({{.range = ByteRange::linear(25, 8)}}));
    auto elsewhere = std::make_shared<GraphWork>();
    elsewhere->operation.stack = StackId{7};
    elsewhere->accesses = {{.range = ByteRange::linear(32, 8)}};
    graphs.node_added(kGraph, kUnknownNode, elsewhere);
    graphs.instantiated(kGraph, kExec, {});
    const auto launch = graphs.launch(kExec).touched;
    EXPECT_THAT(touched(), ElementsAre(0, 25, 32));
    EXPECT_EQ(launch->accesses[0].range, ByteRange::linear(0, 24));
    EXPECT_TRUE(launch->accesses[0].is_joined);
    EXPECT_FALSE(launch->accesses[1].is_joined);
}

TEST_F(GraphsTest, OtherRangesOfOneBlockCountEach) {
    const std::array ranges{ByteRange::linear(1, 8), ByteRange::linear(16, 8),
                            ByteRange{.lo = 1, .width = 8, .pitch = 32, .rows = 2}};
    for (const ByteRange& range : ranges) {
        graphs.node_added(kGraph, kUnknownNode, work({{.range = range}}));
    }
    graphs.instantiated(kGraph, kExec, {});
    EXPECT_EQ(touched().size(), ranges.size());
}

TEST_F(GraphsTest, AnExecutableGraphIsACopy) {
    build();
    graphs.instantiated(kGraph, kExec, {});
    graphs.node_changed(kFirst, work({pointer(9)}));
    graphs.node_destroyed(kSecond);
    EXPECT_THAT(touched(), ElementsAre(1, 2));
    graphs.instantiated(kGraph, kExec, {});
    EXPECT_THAT(touched(), ElementsAre(9));
    graphs.destroyed(kGraph);
    EXPECT_THAT(touched(), ElementsAre(9));
    graphs.destroyed(kExec);
    EXPECT_THAT(touched(), IsEmpty());
}

TEST_F(GraphsTest, ItsNodesAreChangedByTheNamesOfTheOriginals) {
    build();
    graphs.instantiated(kGraph, kExec, {});
    graphs.destroyed(kGraph);
    graphs.node_changed(kExec, kSecond, work({pointer(9)}));
    EXPECT_THAT(touched(), ElementsAre(1, 9));
    graphs.node_enabled(kExec, kFirst, false);
    EXPECT_THAT(touched(), ElementsAre(9));
    graphs.node_enabled(kExec, kFirst, true);
    EXPECT_THAT(touched(), ElementsAre(1, 9));
}

TEST_F(GraphsTest, AnUpdateTakesTheOtherGraphsWorkUnderTheOldNames) {
    build();
    graphs.instantiated(kGraph, kExec, {});
    graphs.node_added(kOther, NodeHandle{0x51}, work({pointer(11)}));
    graphs.node_added(kOther, NodeHandle{0x52}, work({pointer(12)}));
    graphs.updated(kExec, kOther, {});
    EXPECT_THAT(touched(), ElementsAre(11, 12));
    graphs.node_changed(kExec, kFirst, work({pointer(9)}));
    EXPECT_THAT(touched(), ElementsAre(9, 12));
    graphs.node_added(kOther, NodeHandle{0x53}, work({pointer(13)}));
    graphs.updated(kExec, kOther, {});
    EXPECT_THAT(touched(), ElementsAre(11, 12, 13));
}

TEST_F(GraphsTest, AChildGraphIsTheGraphAsItWas) {
    build();
    auto child = std::make_shared<GraphWork>();
    child->child = graphs.body(kGraph, {});
    graphs.node_added(kOther, NodeHandle{0x51}, child);
    graphs.node_changed(kFirst, work({pointer(9)}));
    graphs.instantiated(kOther, kExec, {});
    EXPECT_THAT(touched(), ElementsAre(1, 2));
    graphs.node_enabled(kExec, NodeHandle{0x51}, false);

    EXPECT_THAT(touched(), IsEmpty());
}

TEST_F(GraphsTest, AReusedHandleIsAnotherGraph) {
    build();
    graphs.created(kGraph, {});
    graphs.instantiated(kGraph, kExec, {});
    EXPECT_THAT(touched(), IsEmpty());
    graphs.node_changed(kFirst, work({pointer(1)}));
    graphs.instantiated(kGraph, kExec, {});
    EXPECT_THAT(touched(), IsEmpty());
}

TEST_F(GraphsTest, ANodeOfAGraphThatEndedUnseenIsNotTakenForItsSuccessor) {
    build();
    graphs.node_added(kOther, kFirst, work({pointer(9)}));
    graphs.destroyed(kGraph);
    graphs.node_changed(kFirst, work({pointer(8)}));
    graphs.instantiated(kOther, kExec, {});
    EXPECT_THAT(touched(), ElementsAre(8));
}

TEST_F(GraphsTest, ALaunchThatChangesNothingIsNotMergedAgain) {
    build();
    graphs.instantiated(kGraph, kExec, {});
    const auto first = graphs.launch(kExec).touched;
    EXPECT_EQ(graphs.launch(kExec).touched, first);
    graphs.node_enabled(kExec, kFirst, true);
    EXPECT_EQ(graphs.launch(kExec).touched, first);
    graphs.node_enabled(kExec, kFirst, false);
    EXPECT_NE(graphs.launch(kExec).touched, first);
}

TEST_F(GraphsTest, ThreadsBuildAndLaunchTheirGraphsAtOnce) {
    build();
    graphs.instantiated(kGraph, kExec, {});
    std::vector<std::thread> threads;
    for (std::uint64_t id = 1; id <= 4; ++id) {
        threads.emplace_back([this, id] {
            const auto capture = static_cast<std::uint32_t>(id);
            const GraphHandle graph{0x100 + id};
            const ExecHandle exec{0x200 + id};
            for (std::uint64_t round = 0; round < 100; ++round) {
                graphs.captured(capture, NodeHandle{0x1000 * id + round}, work({pointer(id)}));
                graphs.capture_ended(capture, graph);
                graphs.instantiated(graph, exec, {});
                EXPECT_EQ(touched(exec), std::vector<Address>{id});
                graphs.node_enabled(kExec, kFirst, round % 2 == 0);
                EXPECT_EQ(touched().back(), 2U);
                graphs.destroyed(graph);
                graphs.destroyed(exec);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
}  // namespace cuward
