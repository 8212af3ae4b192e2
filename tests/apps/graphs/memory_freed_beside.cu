// Nodes of a graph that use its own memory run before the node that frees it.
#include "graphs/memory.hpp"

int main() {
    Stream stream, side;
    Event forked, joined;
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    float* memory;
    CHECK(cudaMallocAsync(&memory, kBytes, stream));
    CHECK(cudaEventRecord(forked, stream));
    CHECK(cudaStreamWaitEvent(side, forked, 0));
    USE(memory, side);  // USE
    CHECK(cudaEventRecord(joined, side));
#ifdef FIXED
    CHECK(cudaStreamWaitEvent(stream, joined, 0));
#endif
    CHECK(cudaFreeAsync(memory, stream));  // FREE
    CHECK(cudaStreamWaitEvent(stream, joined, 0));
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));  // INSTANTIATES
    run(executable);
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return finish();
}
