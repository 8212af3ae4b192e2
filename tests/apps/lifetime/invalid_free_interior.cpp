// A block is freed by its start, not by a pointer into it.
#include "app.hpp"

int main() {
    char* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
#ifndef FIXED
    std::printf("free: %s\n", cudaGetErrorName(cudaFree(data + 256)));  // FREE
    (void)cudaGetLastError();
#endif
    return finish({data});
}
