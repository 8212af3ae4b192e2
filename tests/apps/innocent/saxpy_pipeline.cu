// Innocent: a pipeline over four streams, with uploads, kernels, downloads and a final sum, by
// events.
#include <vector>

#include "app.hpp"
#include "kernels.hpp"

__global__ void saxpy(float a, const float* x, float* y, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) y[i] = a * x[i] + y[i];
}
SIMGPU_TWIN(saxpy, [](const simgpu::Launch&, float a, const float* x, float* y, int count) {
    for (int i = 0; i < count; ++i) y[i] = a * x[i] + y[i];
});

struct Chunk {
    Stream stream;
    Event done;
    float *x, *y, *host;
};

int main() {
    constexpr int kChunks = 4;
    Chunk chunks[kChunks];
    for (Chunk& chunk : chunks) {
        CHECK(cudaMalloc(&chunk.x, kBytes));
        CHECK(cudaMalloc(&chunk.y, kBytes));
        CHECK(cudaMallocHost(&chunk.host, kBytes));
    }
    Stream collector;
    float *total, *host_total;
    CHECK(cudaMalloc(&total, kBytes));
    CHECK(cudaMallocHost(&host_total, kBytes));

    double sum = 0;
    for (int round = 0; round < 3; ++round) {
        for (Chunk& chunk : chunks) {
            for (int i = 0; i < kCount; ++i) chunk.host[i] = static_cast<float>(i % 7 + round);
            CHECK(
                cudaMemcpyAsync(chunk.x, chunk.host, kBytes, cudaMemcpyHostToDevice, chunk.stream));
            CHECK(cudaMemsetAsync(chunk.y, 0, kBytes, chunk.stream));
            saxpy<<<kGrid, kThreads, 0, chunk.stream>>>(2.0F, chunk.x, chunk.y, kCount);
            CHECK(cudaEventRecord(chunk.done, chunk.stream));
        }
        CHECK(cudaMemsetAsync(total, 0, kBytes, collector));
        for (Chunk& chunk : chunks) {
            CHECK(cudaStreamWaitEvent(collector, chunk.done, 0));
            saxpy<<<kGrid, kThreads, 0, collector>>>(1.0F, chunk.y, total, kCount);
        }
        CHECK(cudaMemcpyAsync(host_total, total, kBytes, cudaMemcpyDeviceToHost, collector));
        CHECK(cudaStreamSynchronize(collector));
        for (int i = 0; i < kCount; ++i) sum += host_total[i];
    }
    std::printf("sum %.0f\n", sum);

    for (Chunk& chunk : chunks) {
        CHECK(cudaFree(chunk.x));
        CHECK(cudaFree(chunk.y));
        CHECK(cudaFreeHost(chunk.host));
    }
    return finish({total}, {host_total});
}
