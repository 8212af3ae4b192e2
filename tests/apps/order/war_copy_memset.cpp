// A memset must wait for the copy of another stream that still reads the memory.
#include "app.hpp"

int main() {
    Stream download, clear;
    void *data, *target;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMallocHost(&target, kBytes));

    CHECK(cudaMemcpyAsync(target, data, kBytes, cudaMemcpyDeviceToHost, download));  // FIRST
#ifdef FIXED
    order(download, clear);
#endif
    CHECK(cudaMemsetAsync(data, 0, kBytes, clear));  // SECOND
    return finish({data}, {target});
}
