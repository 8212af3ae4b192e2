// Graphs from the calls that build them to what their launches are found to do.
#include <gtest/gtest.h>

#include <string>

#include "core/log/log.hpp"
#include "cupti/driver_params.hpp"
#include "cupti/watch.hpp"
#include "tests/unit/scripted_driver.hpp"

namespace cuward::cupti {
namespace {

/// The node that the driver says was captured last, and the twin of any node in a clone.
CUgraphNode captured_node = nullptr;
CUgraphNode twin_node = nullptr;
/// The edges of every graph, if the driver tells them.
std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
bool tells_edges = true;

DriverQueries graph_queries() {
    DriverQueries driver;
    driver.capture_info = [](CUstream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                             const CUgraphNode** nodes, const CUgraphEdgeData**,
                             std::size_t* count) {
        *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
        *nodes = &captured_node;
        *count = captured_node != nullptr ? 1 : 0;
        return CUDA_SUCCESS;
    };
    driver.node_in_clone = [](CUgraphNode* twin, CUgraphNode, CUgraph) {
        *twin = twin_node;
        return CUDA_SUCCESS;
    };
    driver.graph_edges = [](CUgraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData*,
                            std::size_t* count) {
        *count = edges.size();
        for (std::size_t i = 0; from != nullptr && i < edges.size(); ++i) {
            from[i] = reinterpret_cast<CUgraphNode>(edges[i].first);
            to[i] = reinterpret_cast<CUgraphNode>(edges[i].second);
        }
        return tells_edges ? CUDA_SUCCESS : CUDA_ERROR_LOSSY_QUERY;
    };
    return driver;
}

class GraphWatchTest : public ::testing::Test {
  protected:
    static constexpr Address kBlock = 0x700000000000;
    static constexpr Address kOther = 0x700000100000;
    static constexpr std::uint64_t kBytes = 0x10000;
    static constexpr ContextId kContext = 1;

    explicit GraphWatchTest(const DriverApi& driver = {}, const Settings& settings = {})
        : session(driver, "", settings) {
        captured_node = nullptr;
        twin_node = nullptr;
        edges.clear();
        tells_edges = true;
        allocate(kBlock);
        allocate(kOther);
        create_stream(first);
        create_stream(second);
    }

    template <typename Handle>
    static Handle handle(std::uint64_t value) {
        return reinterpret_cast<Handle>(value);
    }
    template <typename Params>
    void call(std::uint32_t function, const Params& params, int result = CUDA_SUCCESS) {
        Call made;
        watch.enter(
            {.function = function, .params = &params, .context = kContext, .symbol = nullptr},
            made);
        watch.leave(made, result);
    }
    void allocate(Address ptr) {
        Allocation allocation;
        allocation.ptr = ptr;
        allocation.bytes = kBytes;
        allocation.context = kContext;
        session.tracker().allocated(allocation);
    }
    void free(Address ptr) {
        PendingFree pending = session.tracker().begin_free(
            {.ptr = ptr, .context = kContext, .stream = {}, .site = {}});
        session.tracker().end_free(pending, true);
    }
    void create_stream(CUstream stream) {
        cuStreamCreate_params params{};
        params.phStream = &stream;
        params.Flags = CU_STREAM_NON_BLOCKING;
        call(CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, params);
    }
    void write(CUstream stream, Address address = kBlock) {
        cuMemsetD8Async_params params{};
        params.dstDevice = address;
        params.N = 0x100;
        params.hStream = stream;
        call(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, params);
    }
    /// Makes the second stream wait for the first.
    void order() {
        cuEventRecord_params record{};
        record.hEvent = handle<CUevent>(0x3000);
        record.hStream = first;
        call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, record);
        cuStreamWaitEvent_params wait{};
        wait.hEvent = handle<CUevent>(0x3000);
        wait.hStream = second;
        call(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, wait);
    }
    void wait_for_event(CUstream stream) {
        cuStreamWaitEvent_params wait{};
        wait.hEvent = handle<CUevent>(0x3000);
        wait.hStream = stream;
        call(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, wait);
    }
    void begin_capture(CUstream stream) {
        cuStreamBeginCapture_v2_params params{};
        params.hStream = stream;
        call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, params);
    }
    void end_capture(CUstream stream, int result = CUDA_SUCCESS) {
        CUgraph ended = result == CUDA_SUCCESS ? graph : nullptr;
        cuStreamEndCapture_params params{};
        params.hStream = stream;
        params.phGraph = &ended;
        call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, params, result);
    }
    void capture_write(Address address = kBlock, std::uint64_t node = 0x501) {
        begin_capture(first);
        captured_node = handle<CUgraphNode>(node);
        write(first, address);
        end_capture(first);
    }
    void instantiate() {
        CUgraphExec made = exec;
        cuGraphInstantiateWithFlags_params params{};
        params.phGraphExec = &made;
        params.hGraph = graph;
        call(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, params);
    }
    void launch(CUstream stream, int result = CUDA_SUCCESS) {
        cuGraphLaunch_params params{};
        params.hGraph = exec;
        params.hStream = stream;
        call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, params, result);
    }
    static CUDA_MEMSET_NODE_PARAMS memset_of(Address address) {
        CUDA_MEMSET_NODE_PARAMS params{};
        params.dst = address;
        params.elementSize = 4;
        params.width = 16;
        params.height = 1;
        return params;
    }
    void add_memset(std::uint64_t node, Address address = kBlock) {
        CUgraphNode made = handle<CUgraphNode>(node);
        const CUDA_MEMSET_NODE_PARAMS memset = memset_of(address);
        cuGraphAddMemsetNode_params params{};
        params.phGraphNode = &made;
        params.hGraph = graph;
        params.memsetParams = &memset;
        call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemsetNode, params);
    }
    std::uint64_t races() { return session.tracker().totals().races; }
    std::uint64_t lifetime_errors() { return session.tracker().totals().lifetime_errors; }

    /// Whether a launch on the first stream conflicts with a write on the second.
    bool launch_races_with(Address address) {
        const std::uint64_t before = races();
        launch(first);
        write(second, address);
        const bool races_now = races() > before;
        cuCtxSynchronize_v2_params params{};
        call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, params);
        return races_now;
    }

    CUstream first = handle<CUstream>(0x1000);
    CUstream second = handle<CUstream>(0x2000);
    CUgraph graph = handle<CUgraph>(0x400);
    CUgraphExec exec = handle<CUgraphExec>(0x600);
    Session session;
    Watch watch{session, graph_queries()};
};

TEST_F(GraphWatchTest, ALaunchMakesTheAccessesThatWereCaptured) {
    capture_write();
    EXPECT_EQ(races(), 0U);
    instantiate();
    launch(first);
    write(second);
    EXPECT_EQ(races(), 1U);
}

TEST_F(GraphWatchTest, AnEventOrdersALaunch) {
    capture_write();
    instantiate();
    launch(first);
    order();
    write(second);
    launch(second);
    EXPECT_EQ(races(), 0U);
}

TEST_F(GraphWatchTest, EveryOneOfManyLaunchesHasToBeWaitedFor) {
    capture_write();
    instantiate();
    launch(first);
    launch(first);
    order();
    launch(first);
    write(second);
    EXPECT_EQ(races(), 1U);
}

TEST_F(GraphWatchTest, ALaunchAfterManyIsComparedWithWhatOthersDidMeanwhile) {
    capture_write();
    instantiate();
    launch(first);
    launch(first);
    order();
    write(second);
    EXPECT_EQ(races(), 0U);
    launch(first);
    EXPECT_EQ(races(), 1U);
}

TEST_F(GraphWatchTest, ALaunchThatFailsLeavesThoseBefore) {
    capture_write();
    instantiate();
    launch(first);
    order();
    launch(first, CUDA_ERROR_LAUNCH_FAILED);
    write(second);
    EXPECT_EQ(races(), 0U);
    launch(second);
    launch(second);
    launch(second, CUDA_ERROR_LAUNCH_FAILED);
    write(first);
    EXPECT_EQ(races(), 1U);
}

TEST_F(GraphWatchTest, LaunchesOfOneExecutableGraphAreOrdered) {
    capture_write();
    instantiate();
    launch(first);
    launch(second);
    EXPECT_EQ(races(), 0U);
}

TEST_F(GraphWatchTest, WhatWasBuiltOnAJoinedStreamBelongsToTheCapture) {
    begin_capture(first);
    order();
    write(second);
    end_capture(first);
    instantiate();
    EXPECT_TRUE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, AFailedLaunchTouchesNothing) {
    capture_write();
    instantiate();
    launch(first, CUDA_ERROR_INVALID_VALUE);
    write(second);
    EXPECT_EQ(races(), 0U);
}

TEST_F(GraphWatchTest, AFailedCaptureGivesNoGraph) {
    begin_capture(first);
    write(first);
    end_capture(first, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    instantiate();
    EXPECT_FALSE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, ACapturedLaunchIsAChildGraph) {
    capture_write();
    instantiate();
    graph = handle<CUgraph>(0x401);
    begin_capture(first);
    launch(first);
    end_capture(first);
    exec = handle<CUgraphExec>(0x601);
    instantiate();
    EXPECT_TRUE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, NodesAddedByHand) {
    add_memset(0x501);
    instantiate();
    EXPECT_TRUE(launch_races_with(kBlock));
    EXPECT_FALSE(launch_races_with(kOther));
}

TEST_F(GraphWatchTest, CopyAndGenericNodes) {
    CUgraphNode made = handle<CUgraphNode>(0x501);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = &made;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = kBlock;
    copy.WidthInBytes = 8;
    copy.Height = 1;
    copy.Depth = 1;
    cuGraphAddMemcpyNode_params add{};
    add.phGraphNode = &made;
    add.hGraph = graph;
    add.copyParams = &copy;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemcpyNode, add);
    CUgraphNodeParams generic{};
    generic.type = CU_GRAPH_NODE_TYPE_MEMSET;
    generic.memset.dst = kOther;
    generic.memset.elementSize = 1;
    generic.memset.width = 8;
    generic.memset.height = 1;
    made = handle<CUgraphNode>(0x502);
    cuGraphAddNode_v2_params add_any{};
    add_any.phGraphNode = &made;
    add_any.hGraph = graph;
    add_any.nodeParams = &generic;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2, add_any);
    instantiate();
    EXPECT_TRUE(launch_races_with(kBlock));
    EXPECT_TRUE(launch_races_with(kOther));
}

TEST_F(GraphWatchTest, ANodeThatTheDriverRefusedIsNone) {
    CUgraphNode made = nullptr;
    const CUDA_MEMSET_NODE_PARAMS memset = memset_of(kBlock);
    cuGraphAddMemsetNode_params params{};
    params.phGraphNode = &made;
    params.hGraph = graph;
    params.memsetParams = &memset;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemsetNode, params, CUDA_ERROR_INVALID_VALUE);
    instantiate();
    EXPECT_FALSE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, ACapturedNodeCanBeChangedInTheExecutableGraph) {
    capture_write(kBlock, 0x501);
    instantiate();
    const CUDA_MEMSET_NODE_PARAMS memset = memset_of(kOther);
    cuGraphExecMemsetNodeSetParams_params params{};
    params.hGraphExec = exec;
    params.hNode = handle<CUgraphNode>(0x501);
    params.memsetParams = &memset;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams, params);
    EXPECT_FALSE(launch_races_with(kBlock));
    EXPECT_TRUE(launch_races_with(kOther));
}

TEST_F(GraphWatchTest, ANodeChangedInTheGraphCountsFromTheNextInstantiation) {
    add_memset(0x501);
    instantiate();
    const CUDA_MEMSET_NODE_PARAMS memset = memset_of(kOther);
    cuGraphMemsetNodeSetParams_params params{};
    params.hNode = handle<CUgraphNode>(0x501);
    params.nodeParams = &memset;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphMemsetNodeSetParams, params);
    EXPECT_TRUE(launch_races_with(kBlock));
    instantiate();
    EXPECT_FALSE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, ADisabledNodeDoesNotRun) {
    add_memset(0x501);
    instantiate();
    cuGraphNodeSetEnabled_params params{};
    params.hGraphExec = exec;
    params.hNode = handle<CUgraphNode>(0x501);
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled, params);
    EXPECT_FALSE(launch_races_with(kBlock));
    params.isEnabled = 1;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled, params);
    EXPECT_TRUE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, AnUpdateOfTheWholeGraph) {
    capture_write(kBlock, 0x501);
    instantiate();
    graph = handle<CUgraph>(0x401);
    capture_write(kOther, 0x502);
    cuGraphExecUpdate_v2_params params{};
    params.hGraphExec = exec;
    params.hGraph = graph;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, params,
         CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT_TRUE(launch_races_with(kBlock)) << "that failed";
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, params);
    EXPECT_FALSE(launch_races_with(kBlock));
    EXPECT_TRUE(launch_races_with(kOther));
}

TEST_F(GraphWatchTest, ChildGraphs) {
    add_memset(0x501);
    CUgraphNode made = handle<CUgraphNode>(0x502);
    cuGraphAddChildGraphNode_params add{};
    add.phGraphNode = &made;
    add.hGraph = handle<CUgraph>(0x401);
    add.childGraph = graph;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddChildGraphNode, add);
    const CUgraph child = std::exchange(graph, add.hGraph);
    instantiate();
    EXPECT_TRUE(launch_races_with(kBlock));

    graph = child;
    add_memset(0x503, kOther);
    cuGraphExecChildGraphNodeSetParams_params change{};
    change.hGraphExec = exec;
    change.hNode = made;
    change.childGraph = child;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams, change);
    EXPECT_TRUE(launch_races_with(kOther));
}

TEST_F(GraphWatchTest, ACloneHasNodesOfItsOwn) {
    add_memset(0x501);
    twin_node = handle<CUgraphNode>(0x502);
    CUgraph clone = handle<CUgraph>(0x401);
    cuGraphClone_params params{};
    params.phGraphClone = &clone;
    params.originalGraph = graph;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphClone, params);
    cuGraphDestroy_params destroy{.hGraph = graph};
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphDestroy, destroy);
    graph = clone;
    instantiate();
    EXPECT_TRUE(launch_races_with(kBlock));
    cuGraphDestroyNode_params gone{.hNode = twin_node};
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphDestroyNode, gone);
    instantiate();
    EXPECT_FALSE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, AnEndedExecutableGraphIsForgotten) {
    capture_write();
    instantiate();
    cuGraphExecDestroy_params params{.hGraphExec = exec};
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy, params);
    EXPECT_FALSE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, MemoryFreedSinceTheCaptureIsUsedAfterItsFree) {
    capture_write();
    instantiate();
    launch(first);
    EXPECT_EQ(lifetime_errors(), 0U);
    free(kBlock);
    launch(first);
    EXPECT_EQ(lifetime_errors(), 1U);
}

TEST_F(GraphWatchTest, MemoryOfTheGraphAtAFreedBlocksAddressIsNot) {
    free(kBlock);
    CUgraphNode made = handle<CUgraphNode>(0x500);
    CUDA_MEM_ALLOC_NODE_PARAMS memory{};
    memory.bytesize = kBytes;
    memory.dptr = kBlock;
    cuGraphAddMemAllocNode_params params{};
    params.phGraphNode = &made;
    params.hGraph = graph;
    params.nodeParams = &memory;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemAllocNode, params);
    add_memset(0x501);
    edges = {{0x500, 0x501}};
    instantiate();
    launch(first);
    EXPECT_EQ(lifetime_errors(), 0U);
}

TEST_F(GraphWatchTest, NodesThatNoEdgeOrdersRace) {
    add_memset(0x501);
    add_memset(0x502, kOther);
    add_memset(0x503);
    edges = {{0x501, 0x502}};
    instantiate();
    EXPECT_EQ(races(), 1U);
}

TEST_F(GraphWatchTest, NodesThatEdgesOrderDoNot) {
    add_memset(0x501);
    add_memset(0x502);
    // Through a node that nobody told of.
    edges = {{0x501, 0x777}, {0x777, 0x502}};
    instantiate();
    EXPECT_EQ(races(), 0U);
}

TEST_F(GraphWatchTest, NodesOfOneGraphMustBeOrderedInIt) {
    begin_capture(first);
    captured_node = handle<CUgraphNode>(0x501);
    write(first);
    captured_node = handle<CUgraphNode>(0x502);
    write(first);
    end_capture(first);
    edges = {{0x501, 0x502}};
    instantiate();
    EXPECT_EQ(races(), 0U);
    edges.clear();
    instantiate();
    EXPECT_EQ(races(), 1U);
}

TEST_F(GraphWatchTest, WithoutTheEdgesNothingIsSaidOfTheOrder) {
    add_memset(0x501);
    add_memset(0x502);
    tells_edges = false;
    instantiate();
    EXPECT_EQ(races(), 0U);
}

TEST_F(GraphWatchTest, ANodeWithoutANameHasNoKnownOrder) {
    begin_capture(first);
    write(first);
    write(first);
    end_capture(first);
    instantiate();
    EXPECT_EQ(races(), 0U);
}

TEST_F(GraphWatchTest, AChangedNodeIsComparedAtTheNextLaunch) {
    add_memset(0x501);
    add_memset(0x502, kOther);
    instantiate();
    EXPECT_EQ(races(), 0U);
    const CUDA_MEMSET_NODE_PARAMS memset = memset_of(kBlock);
    cuGraphExecMemsetNodeSetParams_params params{};
    params.hGraphExec = exec;
    params.hNode = handle<CUgraphNode>(0x502);
    params.memsetParams = &memset;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams, params);
    launch(first);
    EXPECT_EQ(races(), 1U);
}

TEST_F(GraphWatchTest, WhatInstantiationFoundIsNotFoundAgainByAChange) {
    add_memset(0x501);
    add_memset(0x502);
    add_memset(0x503, kOther);
    instantiate();
    EXPECT_EQ(races(), 1U);
    const CUDA_MEMSET_NODE_PARAMS memset = memset_of(kOther);
    cuGraphExecMemsetNodeSetParams_params params{};
    params.hGraphExec = exec;
    params.hNode = handle<CUgraphNode>(0x503);
    params.memsetParams = &memset;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams, params);
    launch(first);
    EXPECT_EQ(races(), 1U);
}

TEST_F(GraphWatchTest, NodesOfAChildGraphMustBeOrderedWithItsNeighbours) {
    add_memset(0x501);
    CUgraphNode made = handle<CUgraphNode>(0x502);
    cuGraphAddChildGraphNode_params add{};
    add.phGraphNode = &made;
    add.hGraph = handle<CUgraph>(0x401);
    add.childGraph = graph;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddChildGraphNode, add);
    graph = add.hGraph;
    add_memset(0x503);
    edges = {{0x502, 0x503}};
    instantiate();
    EXPECT_EQ(races(), 0U);
    edges.clear();
    instantiate();
    EXPECT_EQ(races(), 1U);
}

/// What is in a conditional node's body may happen or not.
TEST_F(GraphWatchTest, BodiesOfConditionalNodesCountAtMostAsLikely) {
    add_memset(0x501);
    CUgraph body = handle<CUgraph>(0x410);
    CUgraphNode made = handle<CUgraphNode>(0x502);
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.size = 1;
    params.conditional.phGraph_out = &body;
    cuGraphAddNode_v2_params add{};
    add.phGraphNode = &made;
    add.hGraph = graph;
    add.nodeParams = &params;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2, add);
    std::swap(graph, body);
    add_memset(0x503);
    std::swap(graph, body);
    edges = {{0x501, 0x502}};
    instantiate();
    EXPECT_EQ(races(), 0U);
    edges.clear();
    instantiate();
    const auto lines = session.tracker().headlines(10);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("race WAW (likely)"), std::string::npos);
    EXPECT_TRUE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, AChildGraphThatWasMovedIsBuiltOn) {
    CUgraphNode made = handle<CUgraphNode>(0x502);
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = handle<CUgraph>(0x410);
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    cuGraphAddNode_v2_params add{};
    add.phGraphNode = &made;
    add.hGraph = graph;
    add.nodeParams = &params;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2, add);
    std::swap(graph, params.graph.graph);
    add_memset(0x503);
    std::swap(graph, params.graph.graph);
    instantiate();
    EXPECT_TRUE(launch_races_with(kBlock));
}

TEST_F(GraphWatchTest, AnEventThatANodeRecordsOrders) {
    add_memset(0x501);
    CUgraphNode made = handle<CUgraphNode>(0x502);
    cuGraphAddEventRecordNode_params add{};
    add.phGraphNode = &made;
    add.hGraph = graph;
    add.event = handle<CUevent>(0x3000);
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddEventRecordNode, add);
    edges = {{0x501, 0x502}};
    instantiate();
    launch(first);
    wait_for_event(second);
    write(second);
    EXPECT_EQ(races(), 0U);
}

TEST_F(GraphWatchTest, AnEventThatANodeWaitsForOrders) {
    add_memset(0x501);
    CUgraphNode made = handle<CUgraphNode>(0x502);
    cuGraphAddEventWaitNode_params add{};
    add.phGraphNode = &made;
    add.hGraph = graph;
    add.event = handle<CUevent>(0x3000);
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddEventWaitNode, add);
    instantiate();
    write(second);
    cuEventRecord_params record{};
    record.hEvent = add.event;
    record.hStream = second;
    call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, record);
    launch(first);
    EXPECT_EQ(races(), 0U);
}

TEST_F(GraphWatchTest, AnExternalRecordInACaptureIsANode) {
    begin_capture(first);
    captured_node = handle<CUgraphNode>(0x501);
    write(first);
    captured_node = handle<CUgraphNode>(0x502);
    cuEventRecordWithFlags_params record{};
    record.hEvent = handle<CUevent>(0x3000);
    record.hStream = first;
    record.flags = CU_EVENT_RECORD_EXTERNAL;
    call(CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags, record);
    end_capture(first);
    instantiate();
    launch(first);
    wait_for_event(second);
    write(second);
    EXPECT_EQ(races(), 0U);
}

TEST_F(GraphWatchTest, ANodeThatWaitsForAValueMayComeAfterAnyOther) {
    add_memset(0x501);
    CUgraphNode made = handle<CUgraphNode>(0x502);
    CUstreamBatchMemOpParams wait{};
    wait.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch{};
    batch.paramArray = &wait;
    batch.count = 1;
    cuGraphAddBatchMemOpNode_params add{};
    add.phGraphNode = &made;
    add.hGraph = graph;
    add.nodeParams = &batch;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddBatchMemOpNode, add);
    add_memset(0x503);
    edges = {{0x502, 0x503}};
    instantiate();
    EXPECT_EQ(races(), 0U);
    wait.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    made = handle<CUgraphNode>(0x502);
    cuGraphBatchMemOpNodeSetParams_params change{};
    change.hNode = made;
    change.nodeParams = &batch;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphBatchMemOpNodeSetParams, change);
    instantiate();
    EXPECT_EQ(races(), 1U);
}

class GraphMemoryTest : public GraphWatchTest {
  protected:
    static constexpr Address kMemory = 0x700000200000;

    /// A graph whose first node allocates memory.
    GraphMemoryTest() {
        CUgraphNode made = handle<CUgraphNode>(0x500);
        CUDA_MEM_ALLOC_NODE_PARAMS memory{};
        memory.bytesize = kBytes;
        memory.dptr = kMemory;
        cuGraphAddMemAllocNode_params params{};
        params.phGraphNode = &made;
        params.hGraph = graph;
        params.nodeParams = &memory;
        call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemAllocNode, params);
    }
    void add_free() {
        CUgraphNode made = handle<CUgraphNode>(0x502);
        cuGraphAddMemFreeNode_params params{};
        params.phGraphNode = &made;
        params.hGraph = graph;
        params.dptr = kMemory;
        call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemFreeNode, params);
    }
    std::uint64_t live_blocks() { return session.tracker().totals().live_blocks; }
};

TEST_F(GraphMemoryTest, MemoryThatALaunchLeavesIsABlockOfItsStream) {
    instantiate();
    write(first, kMemory);
    EXPECT_EQ(lifetime_errors(), 1U) << "before any launch";
    launch(first);
    EXPECT_EQ(live_blocks(), 3U);
    write(first, kMemory);
    EXPECT_EQ(lifetime_errors(), 1U);
    write(second, kMemory);
    EXPECT_EQ(lifetime_errors(), 2U) << "the stream does not wait for the launch";
}

TEST_F(GraphMemoryTest, ALaunchThatTheDriverRefusesAllocatesNothing) {
    instantiate();
    launch(first, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(live_blocks(), 2U);
    launch(first);
    launch(first, CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(live_blocks(), 3U) << "that of the launch before is still there";
}

TEST_F(GraphMemoryTest, ALaunchFreesFirstIfAskedTo) {
    CUgraphExec made = exec;
    cuGraphInstantiateWithFlags_params params{};
    params.phGraphExec = &made;
    params.hGraph = graph;
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, params);
    launch(first);
    launch(first);
    EXPECT_EQ(live_blocks(), 3U);
    EXPECT_EQ(lifetime_errors(), 0U);
    write(second, kMemory);
    launch(first);
    EXPECT_EQ(lifetime_errors(), 2U) << "used before the allocation, and freed in flight";
}

TEST_F(GraphMemoryTest, MemoryThatTheGraphFreesIsItsOwn) {
    add_memset(0x501, kMemory);
    add_free();
    edges = {{0x500, 0x501}, {0x501, 0x502}};
    instantiate();
    launch(first);
    launch(second);
    EXPECT_EQ(live_blocks(), 2U);
    EXPECT_EQ(lifetime_errors(), 0U);
    write(first, kMemory);
    EXPECT_EQ(lifetime_errors(), 1U);
}

TEST_F(GraphMemoryTest, ItsUsesComeBetweenItsNodes) {
    add_memset(0x501, kMemory);
    add_free();
    edges = {{0x500, 0x502}};
    instantiate();
    EXPECT_EQ(lifetime_errors(), 2U) << "before the allocation, in flight of the free";
    edges = {{0x500, 0x502}, {0x502, 0x501}};
    instantiate();
    EXPECT_EQ(lifetime_errors(), 3U) << "after the free";
}

TEST_F(GraphMemoryTest, AnotherGraphMayFreeIt) {
    instantiate();
    launch(first);
    graph = handle<CUgraph>(0x401);
    exec = handle<CUgraphExec>(0x601);
    add_free();
    instantiate();
    launch(first);
    EXPECT_EQ(live_blocks(), 2U);
    EXPECT_EQ(lifetime_errors(), 0U);
    launch(first, CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(lifetime_errors(), 0U);
}

TEST_F(GraphMemoryTest, ACaptureMakesNodesOfStreamOrderedCalls) {
    graph = handle<CUgraph>(0x401);
    begin_capture(first);
    CUdeviceptr memory = kMemory + 2 * kBytes;
    cuMemAllocAsync_params allocate{};
    allocate.dptr = &memory;
    allocate.bytesize = kBytes;
    allocate.hStream = first;
    captured_node = handle<CUgraphNode>(0x510);
    call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, allocate);
    captured_node = handle<CUgraphNode>(0x511);
    write(first, memory);
    cuMemFreeAsync_params freed{};
    freed.dptr = memory;
    freed.hStream = first;
    captured_node = handle<CUgraphNode>(0x512);
    call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync, freed);
    end_capture(first);
    edges = {{0x510, 0x511}, {0x511, 0x512}};
    instantiate();
    launch(first);
    EXPECT_EQ(lifetime_errors(), 0U);
    EXPECT_EQ(live_blocks(), 2U);
    write(first, memory);
    EXPECT_EQ(lifetime_errors(), 1U);
}

struct HasDriver {
    cuward::testing::ScriptedDriver driver;
};

class EnforcedGraphTest : protected HasDriver, public GraphWatchTest {
  protected:
    EnforcedGraphTest() : GraphWatchTest(driver.api, enforcing()) {}

    static Settings enforcing() {
        Settings settings;
        settings.mode = Mode::Enforce;
        return settings;
    }
    std::uint64_t waits() { return session.order().waits(); }
};

TEST_F(EnforcedGraphTest, ALaunchWaitsForWhatItsNodesNeed) {
    capture_write();
    instantiate();
    write(second);
    EXPECT_EQ(waits(), 0U);
    launch(first);
    EXPECT_EQ(waits(), 1U);
    launch(first);
    EXPECT_EQ(waits(), 1U);
}

TEST_F(EnforcedGraphTest, OtherWorkWaitsForALaunch) {
    capture_write();
    instantiate();
    launch(first);
    write(second, kOther);
    EXPECT_EQ(waits(), 0U);
    write(second);
    EXPECT_EQ(waits(), 1U);
}

TEST_F(EnforcedGraphTest, NothingIsQueuedThatTheProgramHasOrdered) {
    capture_write();
    instantiate();
    launch(first);
    order();
    launch(second);
    write(second);
    EXPECT_EQ(waits(), 0U);
}

TEST_F(EnforcedGraphTest, NothingIsQueuedInACapture) {
    write(second);
    begin_capture(first);
    driver.take_calls();
    write(first);
    EXPECT_EQ(waits(), 0U);
    EXPECT_TRUE(driver.take_calls().empty());
    end_capture(first);
}

}  // namespace
}  // namespace cuward::cupti
