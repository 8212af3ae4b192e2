// The program is told of the budget where it asks how much memory there is.
#include "app.hpp"

void show() {
    std::size_t free = 0;
    std::size_t total = 0;
    CHECK(cudaMemGetInfo(&free, &total));
    std::printf("%zu of %zu MiB\n", free >> 20, total >> 20);
}

int main() {
    void* block = nullptr;
    show();
    CHECK(cudaMalloc(&block, 24 << 20));
    show();
    CHECK(cudaFree(block));
    show();
    CHECK(cudaMalloc(&block, 24 << 20));
    CHECK(cudaDeviceReset());
    show();
    return finish();
}
