// A kernel that writes as far as it is told to, whatever the block.
#pragma once

#include "tests/simgpu/twin.hpp"

__global__ void write_bytes(char* data, int first, int last) {
    const int count = static_cast<int>(blockDim.x * gridDim.x);
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first + index; i < last; i += count) data[i] = 1;
}
SIMGPU_TWIN(write_bytes, [](const simgpu::Launch&, char* data, int first, int last) {
    for (int i = first; i < last; ++i) data[i] = 1;
});
