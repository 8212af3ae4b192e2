// Innocent: blocks are freed right after the work on them has been queued, in turns on two streams;
// cudaFree promises that this work still finds them as they were.
#include "app.hpp"
#include "kernels.hpp"

__global__ void add_to(const float* in, float* total, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) total[i] += in[i];
}
SIMGPU_TWIN(add_to, [](const simgpu::Launch&, const float* in, float* total, int count) {
    for (int i = 0; i < count; ++i) total[i] += in[i];
});

int main() {
    constexpr int kRounds = 300;
    constexpr int kFew = kThreads;
    Stream streams[2];
    float* totals[2];
    for (int side = 0; side < 2; ++side) {
        CHECK(cudaMalloc(&totals[side], kFew * sizeof(float)));
        CHECK(cudaMemsetAsync(totals[side], 0, kFew * sizeof(float), streams[side]));
    }
    for (int round = 0; round < kRounds; ++round) {
        const cudaStream_t stream = streams[round % 2];
        float* block;
        CHECK(cudaMalloc(&block, kFew * sizeof(float)));
        fill<<<1, kThreads, 0, stream>>>(block, kFew, static_cast<float>(round));
        add_to<<<1, kThreads, 0, stream>>>(block, totals[round % 2], kFew);
        CHECK(cudaFree(block));
    }
    for (int side = 0; side < 2; ++side) {
        float sums[kFew];
        CHECK(cudaStreamSynchronize(streams[side]));
        CHECK(cudaMemcpy(sums, totals[side], sizeof sums, cudaMemcpyDeviceToHost));
        std::printf("sums %.0f %.0f\n", sums[0], sums[kFew - 1]);
    }
    return finish({totals[0], totals[1]});
}
