// The nodes of a conditional node's body run where the node stands, if its condition holds.
#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUcontext context;
    CUdeviceptr data;
    CUgraph graph;
    CUgraphConditionalHandle condition;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphConditionalHandleCreate(&condition, graph, context, 1,
                                         CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUDA_MEMSET_NODE_PARAMS setting{};
    setting.dst = data;
    setting.elementSize = 4;
    setting.width = kCount;
    setting.height = 1;
    CUgraphNode beside, conditional, inside;
    CHECK(cuGraphAddMemsetNode(&beside, graph, nullptr, 0, &setting, context));  // BESIDE
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = condition;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
#ifdef FIXED
    CHECK(add_node(&conditional, graph, &beside, 1, &params));
#else
    CHECK(add_node(&conditional, graph, nullptr, 0, &params));
#endif
    const CUgraph body = params.conditional.phGraph_out[0];
    CHECK(cuGraphAddMemsetNode(&inside, body, nullptr, 0, &setting, context));  // INSIDE
    CUgraphExec executable;
    CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));  // INSTANTIATES

    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuMemFree(data));
    std::puts("done");
    return 0;
}
