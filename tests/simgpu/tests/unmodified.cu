#include <cstdio>
#include <vector>

#include "../twin.hpp"

// A program as anybody would build it, with the toolkit's own shared runtime. It also ends badly:
// with work in flight.
__global__ void saxpy(int count, float factor, const float* x, float* y) {
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (index < count) {
        y[index] += factor * x[index];
    }
}

SIMGPU_TWIN(saxpy, [](const simgpu::Launch&, int count, float factor, const float* x, float* y) {
    for (int index = 0; index < count; ++index) {
        y[index] += factor * x[index];
    }
});

struct LastDestructor {
    ~LastDestructor() { cudaFree(nullptr); }
} last_destructor;

int main() {
    constexpr int count = 1 << 16;
    std::vector<float> host(count, 1.0F);
    float* x = nullptr;
    float* y = nullptr;
    cudaMalloc(&x, count * sizeof(float));
    cudaMalloc(&y, count * sizeof(float));
    cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(y, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    saxpy<<<count / 256, 256>>>(count, 2.0F, x, y);
    cudaMemcpy(host.data(), y, count * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g %s\n", static_cast<double>(host[count - 1]),
                cudaGetErrorString(cudaGetLastError()));
    for (int stream = 0; stream < 4; ++stream) {
        cudaStream_t busy = nullptr;
        cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking);
        for (int launch = 0; launch < 1000; ++launch) {
            saxpy<<<count / 256, 256, 0, busy>>>(count, 2.0F, x, y);
        }
    }
    return host[count - 1] == 3.0F ? 0 : 1;
}
