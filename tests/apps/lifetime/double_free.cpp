// A block is freed once.
#include "app.hpp"

int main() {
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaFree(data));             // FREE
#ifndef FIXED
    std::printf("second free: %s\n", cudaGetErrorName(cudaFree(data)));  // AGAIN
    (void)cudaGetLastError();
#endif
    return finish();
}
