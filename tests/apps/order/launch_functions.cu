// Every way to launch is a launch: cooperative, with attributes, and by cudaLaunchKernel.
#include <cooperative_groups.h>

#include "app.hpp"
#include "kernels.hpp"

__global__ void fill_together(float* out, int count, float value) {
    const auto grid = cooperative_groups::this_grid();
    for (auto i = grid.thread_rank(); i < count; i += grid.size()) out[i] = value;
}

int main() {
    Stream first, second, third;
    float* data;
    int count = kCount;
    float value = 1.0F;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC

    void* arguments[] = {&data, &count, &value};
    const void* together = reinterpret_cast<const void*>(fill_together);
    const void* plain = reinterpret_cast<const void*>(fill);
    CHECK(cudaLaunchCooperativeKernel(together, 4, kThreads, arguments, 0, first));  // COOPERATIVE
#ifdef FIXED
    order(first, second);
#endif
    cudaLaunchConfig_t config{};
    config.gridDim = kGrid;
    config.blockDim = kThreads;
    config.stream = second;
    CHECK(cudaLaunchKernelEx(&config, fill, data, count, value));  // WITH-ATTRIBUTES
#ifdef FIXED
    order(second, third);
#else
    CHECK(cudaStreamSynchronize(first));
#endif
    CHECK(cudaLaunchKernel(plain, kGrid, kThreads, arguments, 0, third));  // PLAIN
    return finish({data});
}
