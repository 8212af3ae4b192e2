// Nodes of a graph that use its own memory run after the node that allocates it.
#include "graphs/memory.hpp"

int main() {
    Stream stream;
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    float* memory;
    CHECK(cudaMallocAsync(&memory, kBytes, stream));  // ALLOCATES
#ifndef FIXED
    CHECK(forget_capture_dependencies(stream));
#endif
    USE(memory, stream);  // USE
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));  // INSTANTIATES
    run(executable);
    CHECK(cudaFree(memory));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return finish();
}
