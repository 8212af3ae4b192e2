// Innocent: a sum in two passes over one stream, from pageable memory, with a plain copy back.
#include <vector>

#include "app.hpp"
#include "kernels.hpp"

__global__ void partial_sums(const float* in, float* out, int count) {
    __shared__ float shared[kThreads];
    float sum = 0;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
         i += static_cast<int>(gridDim.x * blockDim.x)) {
        sum += in[i];
    }
    shared[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}
SIMGPU_TWIN(partial_sums, [](const simgpu::Launch& launch, const float* in, float* out, int count) {
    const int blocks = static_cast<int>(launch.grid.x), threads = static_cast<int>(launch.block.x);
    std::fill_n(out, blocks, 0.0F);
    for (int i = 0; i < count; ++i) out[i / threads % blocks] += in[i];
});

int main() {
    constexpr int kBlocks = 64;
    std::vector<float> host(kCount);
    for (int i = 0; i < kCount; ++i) host[i] = static_cast<float>(i % 5);

    float *in, *partial, *total;
    CHECK(cudaMalloc(&in, kBytes));
    CHECK(cudaMalloc(&partial, kBlocks * sizeof(float)));
    CHECK(cudaMalloc(&total, sizeof(float)));
    CHECK(cudaMemcpy(in, host.data(), kBytes, cudaMemcpyHostToDevice));
    partial_sums<<<kBlocks, kThreads>>>(in, partial, kCount);
    partial_sums<<<1, kThreads>>>(partial, total, kBlocks);
    float sum = 0;
    CHECK(cudaMemcpy(&sum, total, sizeof(float), cudaMemcpyDeviceToHost));
    std::printf("sum %.0f\n", sum);
    return finish({in, partial, total});
}
