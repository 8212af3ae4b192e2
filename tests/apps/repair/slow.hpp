// Races that show in the result: the earlier work is slow, and the later one must wait for it.
#pragma once

#include <chrono>
#include <thread>

#include "app.hpp"
#include "kernels.hpp"

constexpr float kFirst = 1.0F;
constexpr float kSecond = 2.0F;
constexpr long long kSlowCycles = 1000000;  // about half a millisecond

__global__ void slow_fill(float* out, int count, float value) {
    const long long begin = clock64();
    while (clock64() - begin < kSlowCycles) {
    }
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = value;
}
SIMGPU_TWIN(slow_fill, [](const simgpu::Launch&, float* out, int count, float value) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    std::fill_n(out, count, value);
});

__global__ void slow_copy(const float* in, float* out, int count) {
    const long long begin = clock64();
    while (clock64() - begin < kSlowCycles) {
    }
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = in[i];
}
SIMGPU_TWIN(slow_copy, [](const simgpu::Launch&, const float* in, float* out, int count) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    std::copy_n(in, count, out);
});

/// What a correct program does between the two sides of each race.
inline void order_if_fixed(cudaStream_t earlier, cudaStream_t later) {
#ifdef FIXED
    order(earlier, later);
#else
    (void)earlier;
    (void)later;
#endif
}
