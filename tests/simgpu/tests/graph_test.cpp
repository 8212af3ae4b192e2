#include <cuda.h>

#include <vector>

#include "simgpu.hpp"

// Graphs, built by hand and by capture.
namespace {

class Graphs : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_CUDA(cudaMalloc(&a, 4));
        ASSERT_CUDA(cudaMalloc(&b, 4));
        ASSERT_CUDA(cudaMemset(a, 0, 4));
        ASSERT_CUDA(cudaMemset(b, 0, 4));
        ASSERT_CUDA(cudaStreamCreate(&stream));
        ASSERT_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
        ASSERT_CUDA(cudaDeviceSynchronize());
    }
    void TearDown() override {
        cudaGetLastError();
        cudaDeviceReset();
    }

    void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
        ASSERT_CUDA(cudaStreamBeginCapture(stream, mode));
    }

    int value_of(const int* device) {
        int value = -1;
        EXPECT_CUDA(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost));
        return value;
    }

    void run(cudaGraph_t graph, int times) {
        cudaGraphExec_t exec = nullptr;
        ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
        for (int launch = 0; launch < times; ++launch) {
            ASSERT_CUDA(cudaGraphLaunch(exec, stream));
        }
        ASSERT_CUDA(cudaStreamSynchronize(stream));
        ASSERT_CUDA(cudaGraphExecDestroy(exec));
    }

    size_t nodes_of(cudaGraph_t graph) {
        size_t nodes = 0;
        EXPECT_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
        return nodes;
    }

    size_t edges_of(cudaGraph_t graph) {
        size_t edges = 0;
        EXPECT_CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
        return edges;
    }

    int* a = nullptr;
    int* b = nullptr;
    cudaStream_t stream = nullptr;
    cudaStream_t other = nullptr;
};

TEST_F(Graphs, CaptureBuildsAndRunsNothing) {
    begin();
    kernels::launch_add(stream, a, a, 1, 1);
    kernels::launch_add(stream, a, a, 2, 1);
    cudaStreamCaptureStatus status{};
    ASSERT_CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(value_of(a), 0);
    EXPECT_EQ(nodes_of(graph), 2U);
    EXPECT_EQ(edges_of(graph), 1U);
    run(graph, 3);
    EXPECT_EQ(value_of(a), 9);
    ASSERT_CUDA(cudaGraphDestroy(graph));
}

TEST_F(Graphs, EventsForkAndJoinACapture) {
    cudaEvent_t fork = nullptr;
    cudaEvent_t join = nullptr;
    ASSERT_CUDA(cudaEventCreate(&fork));
    ASSERT_CUDA(cudaEventCreate(&join));
    begin();
    ASSERT_CUDA(cudaMemsetAsync(a, 0, 4, stream));
    ASSERT_CUDA(cudaEventRecord(fork, stream));
    ASSERT_CUDA(cudaStreamWaitEvent(other, fork, 0));
    kernels::launch_add(other, b, a, 5, 1);
    ASSERT_CUDA(cudaEventRecord(join, other));
    kernels::launch_add(stream, a, a, 1, 1);
    ASSERT_CUDA(cudaStreamWaitEvent(stream, join, 0));
    ASSERT_CUDA(cudaMemcpyAsync(a, b, 4, cudaMemcpyDeviceToDevice, stream));
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(nodes_of(graph), 4U);
    EXPECT_EQ(edges_of(graph), 4U);
    run(graph, 1);
    EXPECT_EQ(value_of(a), 5);
    EXPECT_CUDA(cudaStreamSynchronize(other));  // no longer capturing
}

TEST_F(Graphs, UnjoinedCaptureFails) {
    cudaEvent_t fork = nullptr;
    ASSERT_CUDA(cudaEventCreate(&fork));
    begin();
    ASSERT_CUDA(cudaEventRecord(fork, stream));
    ASSERT_CUDA(cudaStreamWaitEvent(other, fork, 0));
    kernels::launch_add(other, b, b, 5, 1);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
}

TEST_F(Graphs, ForbiddenCallsInvalidateAGlobalCapture) {
    begin();
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorStreamCaptureUnsupported);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    begin(cudaStreamCaptureModeRelaxed);
    EXPECT_CUDA(cudaMalloc(&pointer, 4));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
}

TEST_F(Graphs, LegacyStreamWouldDependOnTheCapture) {
    begin(cudaStreamCaptureModeRelaxed);
    kernels::launch_without_twin(nullptr, a);
    EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, SynchronisingACapturingStreamIsAnError) {
    begin();
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, BuiltByHandWithEveryKindOfNode) {
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t fill = nullptr;
    cudaMemsetParams memset{};
    memset.dst = a;
    memset.elementSize = 4;
    memset.value = 10;
    memset.width = 1;
    memset.height = 1;
    ASSERT_CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &memset));
    cudaGraphNode_t add = nullptr;
    int value = 3;
    int count = 1;
    void* arguments[] = {&b, &a, &value, &count};
    cudaKernelNodeParams kernel{};
    kernel.func = const_cast<void*>(kernels::add_function());
    kernel.gridDim = {1, 1, 1};
    kernel.blockDim = {1, 1, 1};
    kernel.kernelParams = arguments;
    ASSERT_CUDA(cudaGraphAddKernelNode(&add, graph, &fill, 1, &kernel));
    cudaGraphNode_t copy = nullptr;
    ASSERT_CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &add, 1, a, b, 4, cudaMemcpyDeviceToDevice));
    int calls = 0;
    cudaHostNodeParams host{};
    host.fn = [](void* data) { ++*static_cast<int*>(data); };
    host.userData = &calls;
    cudaGraphNode_t call = nullptr;
    ASSERT_CUDA(cudaGraphAddHostNode(&call, graph, &copy, 1, &host));
    cudaEvent_t event = nullptr;
    ASSERT_CUDA(cudaEventCreate(&event));
    cudaGraphNode_t record = nullptr;
    ASSERT_CUDA(cudaGraphAddEventRecordNode(&record, graph, &call, 1, event));
    cudaGraphNode_t last = nullptr;
    ASSERT_CUDA(cudaGraphAddEmptyNode(&last, graph, &record, 1));
    cudaGraph_t parent = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&parent, 0));
    cudaGraphNode_t child = nullptr;
    ASSERT_CUDA(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
    cudaGraphNodeType type{};
    ASSERT_CUDA(cudaGraphNodeGetType(child, &type));
    EXPECT_EQ(type, cudaGraphNodeTypeGraph);
    run(parent, 2);
    EXPECT_EQ(value_of(a), 13);
    EXPECT_EQ(calls, 2);
    EXPECT_CUDA(cudaEventQuery(event));
    // The driver shows what it was given.
    CUDA_KERNEL_NODE_PARAMS shown{};
    ASSERT_EQ(cuGraphKernelNodeGetParams(add, &shown), CUDA_SUCCESS);
    EXPECT_EQ(*static_cast<int*>(shown.kernelParams[2]), 3);
    ASSERT_CUDA(cudaGraphDestroy(parent));
    ASSERT_CUDA(cudaGraphDestroy(graph));
}

TEST_F(Graphs, UpdatesTakeEffectAtTheNextLaunch) {
    const auto captured = [&](int value) {
        begin();
        kernels::launch_add(stream, a, a, value, 1);
        cudaGraph_t graph = nullptr;
        EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
        return graph;
    };
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, captured(1), 0));
    ASSERT_CUDA(cudaGraphLaunch(exec, stream));
    cudaGraphExecUpdateResultInfo info{};
    ASSERT_CUDA(cudaGraphExecUpdate(exec, captured(10), &info));
    EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
    ASSERT_CUDA(cudaGraphLaunch(exec, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(value_of(a), 11);
    cudaGraph_t empty = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&empty, 0));
    EXPECT_EQ(cudaGraphExecUpdate(exec, empty, &info), cudaErrorGraphExecUpdateFailure);
}

TEST_F(Graphs, NodesOfAnExecutableGraphAreChangedAndDisabledByTheNamesOfTheOriginals) {
    begin();
    kernels::launch_add(stream, a, a, 1, 1);
    ASSERT_CUDA(cudaMemsetAsync(b, 0, 4, stream));
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphNode_t nodes[2] = {};
    size_t count = 2;
    ASSERT_CUDA(cudaGraphGetNodes(graph, nodes, &count));
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    ASSERT_CUDA(cudaGraphNodeSetEnabled(exec, nodes[0], 0));
    unsigned enabled = 1;
    ASSERT_CUDA(cudaGraphNodeGetEnabled(exec, nodes[0], &enabled));
    EXPECT_EQ(enabled, 0U);
    ASSERT_CUDA(cudaGraphLaunch(exec, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(value_of(a), 0);
    ASSERT_CUDA(cudaGraphNodeSetEnabled(exec, nodes[0], 1));
    CUgraphNodeParams memset{};
    memset.type = CU_GRAPH_NODE_TYPE_MEMSET;
    memset.memset.dst = reinterpret_cast<CUdeviceptr>(b);
    memset.memset.value = 7;
    memset.memset.elementSize = 4;
    memset.memset.width = 1;
    memset.memset.height = 1;
    ASSERT_EQ(cuGraphExecNodeSetParams(exec, nodes[1], &memset), CUDA_SUCCESS);
    ASSERT_CUDA(cudaGraphLaunch(exec, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(value_of(a), 1);
    EXPECT_EQ(value_of(b), 7);
    EXPECT_EQ(cuGraphNodeSetParams(nodes[0], &memset), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, AClonesNodesAreFoundByTheirOriginals) {
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t original = nullptr;
    ASSERT_CUDA(cudaGraphAddEmptyNode(&original, graph, nullptr, 0));
    cudaGraph_t clone = nullptr;
    ASSERT_CUDA(cudaGraphClone(&clone, graph));
    cudaGraphNode_t twin = nullptr;
    ASSERT_CUDA(cudaGraphNodeFindInClone(&twin, original, clone));
    EXPECT_NE(twin, original);
    EXPECT_EQ(cudaGraphNodeFindInClone(&twin, original, graph), cudaErrorInvalidValue);
}

TEST_F(Graphs, CircularGraphsAreRefused) {
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t one = nullptr;
    cudaGraphNode_t two = nullptr;
    ASSERT_CUDA(cudaGraphAddEmptyNode(&one, graph, nullptr, 0));
    ASSERT_CUDA(cudaGraphAddEmptyNode(&two, graph, &one, 1));
    ASSERT_CUDA(cudaGraphAddDependencies(graph, &two, &one, nullptr, 1));
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
}

TEST_F(Graphs, MemoryOfAGraphIsThereFromALaunchToAFree) {
    begin();
    void* memory = nullptr;
    ASSERT_CUDA(cudaMallocAsync(&memory, 4, stream));
    ASSERT_CUDA(cudaMemsetAsync(memory, 0, 4, stream));
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue) << "not allocated yet";
    ASSERT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue) << "allocated already";
    ASSERT_CUDA(cudaFreeAsync(memory, stream));
    ASSERT_CUDA(cudaGraphLaunch(exec, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    ASSERT_CUDA(cudaGraphExecDestroy(exec));
    ASSERT_CUDA(cudaGraphDestroy(graph));
    ASSERT_CUDA(cudaFree(memory)) << "outlives its graph";
}

TEST_F(Graphs, AutoFreeOnLaunch) {
    begin();
    void* memory = nullptr;
    ASSERT_CUDA(cudaMallocAsync(&memory, 4, stream));
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    ASSERT_CUDA(cudaGraphLaunch(exec, stream));
    ASSERT_CUDA(cudaGraphLaunch(exec, stream));
    ASSERT_CUDA(cudaFreeAsync(memory, stream));
}

TEST_F(Graphs, MemoryThatAGraphFreesCanBeAllocatedAgain) {
    CUgraph graph = nullptr;
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.bytesize = 4;
    CUgraphNode alloc = nullptr;
    CUgraphNode free = nullptr;
    ASSERT_EQ(cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddMemFreeNode(&free, graph, &alloc, 1, params.dptr), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphAddMemFreeNode(&free, graph, &alloc, 1, params.dptr),
              CUDA_ERROR_INVALID_VALUE);
    run(graph, 2);
    CUgraph clone = nullptr;
    EXPECT_EQ(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphDestroyNode(alloc), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(Graphs, ConditionalNodesRunTheBodyTheirConditionNames) {
    CUgraph graph = nullptr;
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    CUgraphConditionalHandle condition = 0;
    ASSERT_EQ(
        cuGraphConditionalHandleCreate(&condition, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
        CUDA_SUCCESS);
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional = {condition, CU_GRAPH_COND_TYPE_SWITCH, 2, nullptr, context};
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), CUDA_SUCCESS);
    for (int body = 0; body < 2; ++body) {
        CUDA_MEMSET_NODE_PARAMS memset{};
        memset.dst = reinterpret_cast<CUdeviceptr>(body == 0 ? a : b);
        memset.value = 7;
        memset.elementSize = 4;
        memset.width = 1;
        memset.height = 1;
        ASSERT_EQ(cuGraphAddMemsetNode(&node, params.conditional.phGraph_out[body], nullptr, 0,
                                       &memset, context),
                  CUDA_SUCCESS);
    }
    run(graph, 1);
    EXPECT_EQ(value_of(a), 0);
    EXPECT_EQ(value_of(b), 7);
}

TEST_F(Graphs, BatchNodesWriteTheirValues) {
    CUgraph graph = nullptr;
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    CUstreamBatchMemOpParams operations[2]{};
    for (int i = 0; i < 2; ++i) {
        operations[i].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        operations[i].writeValue.address = reinterpret_cast<CUdeviceptr>(i == 0 ? a : b);
        operations[i].writeValue.value = static_cast<cuuint32_t>(i + 3);
    }
    CUDA_BATCH_MEM_OP_NODE_PARAMS params{};
    params.count = 2;
    params.paramArray = operations;
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
    run(graph, 1);
    EXPECT_EQ(value_of(a), 3);
    EXPECT_EQ(value_of(b), 4);
}

}  // namespace
