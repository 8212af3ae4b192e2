// A node of an executable graph is changed by the name of the node it was made from, captured or
// not.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "kernels.hpp"

int main() {
    Stream launching, filling;
    float *data, *other;
    CHECK(cudaMalloc(&data, kBytes));
    CHECK(cudaMalloc(&other, kBytes));  // ALLOC
    const Executable adding(launching,
                            [&] { add_one<<<kGrid, kThreads, 0, launching>>>(data, kCount); });
    int count = kCount;
    void* arguments[] = {&other, &count};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(add_one);
    params.gridDim = kGrid;
    params.blockDim = kThreads;
    params.kernelParams = arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(adding, adding.node(), &params));  // CHANGED

#ifdef FIXED
    fill<<<kGrid, kThreads, 0, filling>>>(data, kCount, 1.0F);
#else
    fill<<<kGrid, kThreads, 0, filling>>>(other, kCount, 1.0F);  // FIRST
#endif
    CHECK(cudaGraphLaunch(adding, launching));  // LAUNCH
    CHECK(cudaStreamSynchronize(launching));
    return finish({data, other});
}
