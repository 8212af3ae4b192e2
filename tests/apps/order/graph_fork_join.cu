// Capture runs nothing: calls that only build a graph make no access, and a captured join is an
// edge.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream main_stream, side_stream;
    Event forked, joined;
    float *left, *right;
    CHECK(cudaMalloc(&left, kBytes));
    CHECK(cudaMalloc(&right, kBytes));

    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
    fill<<<kGrid, kThreads, 0, main_stream>>>(left, kCount, 1.0F);
    CHECK(cudaEventRecord(forked, main_stream));
    CHECK(cudaStreamWaitEvent(side_stream, forked, 0));
    copy_all<<<kGrid, kThreads, 0, side_stream>>>(left, right, kCount);
    CHECK(cudaEventRecord(joined, side_stream));
    CHECK(cudaStreamWaitEvent(main_stream, joined, 0));
    add_one<<<kGrid, kThreads, 0, main_stream>>>(right, kCount);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(main_stream, &graph));

    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int step = 0; step < 3; ++step) CHECK(cudaGraphLaunch(executable, main_stream));
    CHECK(cudaStreamSynchronize(main_stream));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return finish({left, right});
}
