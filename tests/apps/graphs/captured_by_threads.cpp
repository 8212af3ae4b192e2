// Two threads may build one graph; the order is that of their streams and events.
#include <thread>

#include "graphs/nodes.hpp"

int main() {
    Stream stream, side;
    Event forked, joined;
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaEventRecord(forked, stream));
    CHECK(cudaStreamWaitEvent(side, forked, 0));
    CHECK(cudaMemsetAsync(data, 1, kBytes, stream));  // FIRST
#ifdef FIXED
    CHECK(cudaEventRecord(forked, stream));
    CHECK(cudaStreamWaitEvent(side, forked, 0));
#endif
    std::thread other([&] {
        CHECK(cudaMemsetAsync(data, 2, kBytes, side));  // SECOND
        CHECK(cudaEventRecord(joined, side));
    });
    other.join();
    CHECK(cudaStreamWaitEvent(stream, joined, 0));
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));  // INSTANTIATES
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return finish({data});
}
