// What is captured on two streams runs in any order, unless an event orders it in the capture.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "graphs/nodes.hpp"
#include "kernels.hpp"

int main() {
    Stream stream, side;
    Event forked, joined;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(forked, stream));
    CHECK(cudaStreamWaitEvent(side, forked, 0));
    fill<<<kGrid, kThreads, 0, stream>>>(data, kCount, 1.0F);  // FILLS
#ifdef FIXED
    CHECK(cudaEventRecord(forked, stream));
    CHECK(cudaStreamWaitEvent(side, forked, 0));
#endif
    copy_all<<<kGrid, kThreads, 0, side>>>(data, out, kCount);  // COPIES
    CHECK(cudaEventRecord(joined, side));
    CHECK(cudaStreamWaitEvent(stream, joined, 0));
    CHECK(cudaStreamEndCapture(stream, &graph));

    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));  // INSTANTIATES
    run(executable);
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return finish({data, out});
}
