// Each kind of memory has its own free: device memory does not go to cudaFreeHost.
#include "app.hpp"

int main() {
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
#ifndef FIXED
    std::printf("free: %s\n", cudaGetErrorName(cudaFreeHost(data)));  // FREE
    (void)cudaGetLastError();
#endif
    return finish({data});
}
