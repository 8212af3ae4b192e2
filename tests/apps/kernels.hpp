// The kernels of the small sample applications, each with its host twin. Their signatures matter:
// the tool reads from them what a kernel may write.
#pragma once

#include <algorithm>

#include "tests/simgpu/twin.hpp"

constexpr int kThreads = 256;
constexpr int kGrid = app::kCount / kThreads;

__global__ void fill(float* out, int count, float value) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = value;
}
SIMGPU_TWIN(fill, [](const simgpu::Launch&, float* out, int count, float value) {
    std::fill_n(out, count, value);
});

__global__ void add_one(float* data, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] = data[i] + 1.0F;
}
SIMGPU_TWIN(add_one, [](const simgpu::Launch&, float* data, int count) {
    for (int i = 0; i < count; ++i) data[i] = data[i] + 1.0F;
});

__global__ void copy_all(const float* in, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = in[i];
}
SIMGPU_TWIN(copy_all, [](const simgpu::Launch&, const float* in, float* out, int count) {
    std::copy_n(in, count, out);
});
