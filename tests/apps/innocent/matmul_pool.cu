// Innocent: matrix products whose operands and results live in stream-ordered memory.
#include <vector>

#include "app.hpp"
#include "kernels.hpp"

constexpr int kSide = 128;
constexpr std::size_t kMatrixBytes = kSide * kSide * sizeof(float);

__global__ void multiply(const float* a, const float* b, float* c) {
    const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0;
    for (int k = 0; k < kSide; ++k) sum += a[row * kSide + k] * b[k * kSide + column];
    c[row * kSide + column] = sum;
}
SIMGPU_TWIN(multiply, [](const simgpu::Launch&, const float* a, const float* b, float* c) {
    for (int row = 0; row < kSide; ++row) {
        for (int column = 0; column < kSide; ++column) {
            float sum = 0;
            for (int k = 0; k < kSide; ++k) sum += a[row * kSide + k] * b[k * kSide + column];
            c[row * kSide + column] = sum;
        }
    }
});

int main() {
    const dim3 threads(16, 16), grid(kSide / 16, kSide / 16);
    std::vector<float> host(kSide * kSide);
    for (int i = 0; i < kSide * kSide; ++i) host[i] = static_cast<float>((i + i / kSide) % 3);

    Stream streams[2];
    float* results[2];
    for (int i = 0; i < 2; ++i) {
        float *a, *b;
        CHECK(cudaMallocAsync(&a, kMatrixBytes, streams[i]));
        CHECK(cudaMallocAsync(&b, kMatrixBytes, streams[i]));
        CHECK(cudaMallocAsync(&results[i], kMatrixBytes, streams[i]));
        CHECK(cudaMemcpyAsync(a, host.data(), kMatrixBytes, cudaMemcpyHostToDevice, streams[i]));
        CHECK(cudaMemcpyAsync(b, host.data(), kMatrixBytes, cudaMemcpyHostToDevice, streams[i]));
        multiply<<<grid, threads, 0, streams[i]>>>(a, b, results[i]);
        CHECK(cudaFreeAsync(a, streams[i]));
        CHECK(cudaFreeAsync(b, streams[i]));
    }

    float* product;
    CHECK(cudaMallocAsync(&product, kMatrixBytes, streams[0]));
    order(streams[1], streams[0]);
    multiply<<<grid, threads, 0, streams[0]>>>(results[0], results[1], product);
    CHECK(cudaFreeAsync(results[0], streams[0]));
    CHECK(cudaFreeAsync(results[1], streams[0]));
    CHECK(cudaMemcpyAsync(host.data(), product, kMatrixBytes, cudaMemcpyDeviceToHost, streams[0]));
    CHECK(cudaFreeAsync(product, streams[0]));
    CHECK(cudaStreamSynchronize(streams[0]));

    double trace = 0;
    for (int i = 0; i < kSide; ++i) trace += host[i * kSide + i];
    std::printf("trace %.0f\n", trace);
    return finish();
}
