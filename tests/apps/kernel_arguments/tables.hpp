// Kernels that are given a table of matrices, as batched routines are, and tables for them.
#pragma once

#include "tests/simgpu/twin.hpp"

constexpr int kMatrices = 4;

__global__ void scale_all(float* const* matrices, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    for (int matrix = 0; matrix < kMatrices && i < count; ++matrix) matrices[matrix][i] *= 2.0F;
}
SIMGPU_TWIN(scale_all, [](const simgpu::Launch&, float* const* matrices, int count) {
    for (int matrix = 0; matrix < kMatrices; ++matrix)
        for (int i = 0; i < count; ++i) matrices[matrix][i] *= 2.0F;
});

__global__ void sum_all(const float* const* matrices, float* sums, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    sums[i] = 0.0F;
    for (int matrix = 0; matrix < kMatrices; ++matrix) sums[i] += matrices[matrix][i];
}
SIMGPU_TWIN(sum_all,
            [](const simgpu::Launch&, const float* const* matrices, float* sums, int count) {
                for (int i = 0; i < count; ++i) {
                    sums[i] = 0.0F;
                    for (int matrix = 0; matrix < kMatrices; ++matrix)
                        sums[i] += matrices[matrix][i];
                }
            });

namespace app {

/// Device memory for a table, with what `matrices` holds.
template <typename T>
T** upload_table(float* const (&matrices)[kMatrices]) {
    T** table;
    CHECK(cudaMalloc(&table, sizeof matrices));
    CHECK(cudaMemcpy(table, matrices, sizeof matrices, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    return table;
}

}  // namespace app
