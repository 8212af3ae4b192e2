// cudaStreamUpdateCaptureDependencies says anew what the next captured call depends on.
#include "graphs/nodes.hpp"

int main() {
    Stream stream;
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(data, 1, kBytes, stream));  // FIRST
#ifndef FIXED
    CHECK(forget_capture_dependencies(stream));
#endif
    CHECK(cudaMemsetAsync(data, 2, kBytes, stream));  // SECOND
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));  // INSTANTIATES
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return finish({data});
}
