// Memory of malloc is not CUDA's to free.
#include "app.hpp"

int main() {
    void* data = std::malloc(kBytes);
    void* other;
    CHECK(cudaMalloc(&other, kBytes));
#ifndef FIXED
    std::printf("free: %s\n", cudaGetErrorName(cudaFree(data)));  // FREE
    (void)cudaGetLastError();
#endif
    std::free(data);
    return finish({other});
}
