// A node that waits for an event waits for its last record before the launch.
#include "graphs/nodes.hpp"

int main() {
    Stream filling, launching;
    Event filled;
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const cudaMemsetParams params = setting(data);
    Graph graph;
    cudaGraphNode_t waits, sets;
#ifdef FIXED
    CHECK(cudaGraphAddEventWaitNode(&waits, graph, nullptr, 0, filled));
#else
    CHECK(cudaGraphAddEmptyNode(&waits, graph, nullptr, 0));
#endif
    CHECK(cudaGraphAddMemsetNode(&sets, graph, &waits, 1, &params));  // ADDED
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));

    CHECK(cudaMemsetAsync(data, 1, kBytes, filling));  // FIRST
    CHECK(cudaEventRecord(filled, filling));
    CHECK(cudaGraphLaunch(executable, launching));  // LAUNCH
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(executable));
    return finish({data});
}
