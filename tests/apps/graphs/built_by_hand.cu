// Nodes that the program adds itself touch what their parameters say.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream launching, filling;
    float* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    int count = kCount;
    void* arguments[] = {&data, &count};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(add_one);
    params.gridDim = kGrid;
    params.blockDim = kThreads;
    params.kernelParams = arguments;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));  // ADDED
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphDestroy(graph));

    fill<<<kGrid, kThreads, 0, filling>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    order(filling, launching);
#endif
    CHECK(cudaGraphLaunch(executable, launching));  // LAUNCH
    CHECK(cudaStreamSynchronize(launching));
    CHECK(cudaGraphExecDestroy(executable));
    return finish({data});
}
