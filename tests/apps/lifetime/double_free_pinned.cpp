// A pinned block is freed once.
#include "app.hpp"

int main() {
    void* data;
    CHECK(cudaMallocHost(&data, kBytes));  // ALLOC
    CHECK(cudaFreeHost(data));             // FREE
#ifndef FIXED
    std::printf("second free: %s\n", cudaGetErrorName(cudaFreeHost(data)));  // AGAIN
    (void)cudaGetLastError();
#endif
    return finish();
}
