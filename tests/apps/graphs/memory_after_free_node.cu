// Memory that a graph frees itself is nobody else's.
#include "graphs/memory.hpp"

int main() {
    Stream stream;
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    float* memory;
    CHECK(cudaMallocAsync(&memory, kBytes, stream));
    USE(memory, stream);
    CHECK(cudaFreeAsync(memory, stream));  // FREE
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    run(executable);
#ifndef FIXED
    USE(memory, stream);  // USE
#endif
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return finish();
}
