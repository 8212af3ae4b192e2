// A graph that frees at its launch what its last one has left must not be launched while that is in
// use.
#include "graphs/memory.hpp"

int main() {
    Stream stream, using_it;
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    float* memory;
    CHECK(cudaMallocAsync(&memory, kBytes, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));

    CHECK(cudaGraphLaunch(executable, stream));
    order(stream, using_it);
    USE(memory, using_it);  // USE
#ifdef FIXED
    order(using_it, stream);
#endif
    CHECK(cudaGraphLaunch(executable, stream));  // LAUNCH
    CHECK(cudaFreeAsync(memory, stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return finish();
}
