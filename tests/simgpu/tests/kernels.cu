#include "kernels.hpp"

#include <condition_variable>
#include <mutex>

#include "../twin.hpp"

namespace {

std::mutex gate_mutex;
std::condition_variable gate_moved;
bool gate_open = true;
int gate_entered = 0;

}  // namespace

namespace kernels {

// On the simulated device only the twin runs, and it holds the stream until the gate opens.
__global__ void wait_at_gate() {}

__global__ void add(int* to, const int* from, int value, int count) {
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (index < count) {
        to[index] = from[index] + value;
    }
}

template <int Factor>
__global__ void scale(int* data, int count) {
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (index < count) {
        data[index] *= Factor;
    }
}

__global__ void without_twin(int* data) {
    *data = 1;
}

__device__ int counters[4] = {1, 2, 3, 4};
__constant__ float factors[8];

__global__ void sum_counters(int* out) {
    *out = counters[0] + counters[1] + static_cast<int>(factors[0]);
}

}  // namespace kernels

SIMGPU_TWIN(kernels::wait_at_gate, [](const simgpu::Launch&) {
    std::unique_lock<std::mutex> lock(gate_mutex);
    ++gate_entered;
    gate_moved.notify_all();
    gate_moved.wait(lock, [] { return gate_open; });
});

SIMGPU_TWIN(kernels::add,
            [](const simgpu::Launch&, int* to, const int* from, int value, int count) {
                for (int index = 0; index < count; ++index) {
                    to[index] = from[index] + value;
                }
            });

SIMGPU_TWIN(kernels::scale<3>, [](const simgpu::Launch& launch, int* data, int count) {
    const int threads = static_cast<int>(launch.threads());
    for (int index = 0; index < count && index < threads; ++index) {
        data[index] *= 3;
    }
});

namespace kernels {

void close_gate() {
    const std::lock_guard<std::mutex> lock(gate_mutex);
    gate_open = false;
    gate_entered = 0;
}

void open_gate() {
    const std::lock_guard<std::mutex> lock(gate_mutex);
    gate_open = true;
    gate_moved.notify_all();
}

void await_entry() {
    std::unique_lock<std::mutex> lock(gate_mutex);
    gate_moved.wait(lock, [] { return gate_entered > 0; });
}

void launch_gate(cudaStream_t stream) {
    wait_at_gate<<<1, 1, 0, stream>>>();
}

void launch_add(cudaStream_t stream, int* to, const int* from, int value, int count) {
    add<<<(count + 255) / 256, 256, 0, stream>>>(to, from, value, count);
}

void launch_triple(cudaStream_t stream, int* data, int count) {
    scale<3><<<(count + 255) / 256, 256, 0, stream>>>(data, count);
}

void launch_without_twin(cudaStream_t stream, int* data) {
    without_twin<<<1, 1, 0, stream>>>(data);
}

const void* add_function() {
    return reinterpret_cast<const void*>(&add);
}
const void* counters_symbol() {
    return &counters;
}
const void* factors_symbol() {
    return &factors;
}

}  // namespace kernels
