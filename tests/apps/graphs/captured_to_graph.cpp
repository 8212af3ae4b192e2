// What is captured to a graph that has nodes comes after those named, and after no other.
#include "graphs/nodes.hpp"

int main() {
    Stream stream;
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const cudaMemsetParams params = setting(data);
    Graph graph;
    cudaGraphNode_t first;
    CHECK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &params));  // FIRST
#ifdef FIXED
    const std::size_t dependencies = 1;
#else
    const std::size_t dependencies = 0;
#endif
    CHECK(cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, dependencies,
                                        cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(data, 1, kBytes, stream));  // CAPTURED
    cudaGraph_t same;
    CHECK(cudaStreamEndCapture(stream, &same));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));  // INSTANTIATES
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    return finish({data});
}
