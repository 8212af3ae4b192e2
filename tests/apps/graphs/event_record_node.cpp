// A node that records an event does so whenever its graph runs.
#include "graphs/nodes.hpp"

int main() {
    Stream launching, waiting;
    Event recorded;
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(launching, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(data, 1, kBytes, launching));  // CAPTURED
    CHECK(cudaEventRecordWithFlags(recorded, launching, cudaEventRecordExternal));
    CHECK(cudaStreamEndCapture(launching, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));

    CHECK(cudaGraphLaunch(executable, launching));  // LAUNCH
#ifdef FIXED
    CHECK(cudaStreamWaitEvent(waiting, recorded, 0));
#endif
    CHECK(cudaMemsetAsync(data, 2, kBytes, waiting));  // SECOND
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return finish({data});
}
