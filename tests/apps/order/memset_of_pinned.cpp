// cudaMemset of pinned memory is complete when it returns; cudaMemsetAsync is not.
#include "app.hpp"

int main() {
    Stream setting, upload;
    void *buffer, *data;
    CHECK(cudaMallocHost(&buffer, kBytes));  // ALLOC
    CHECK(cudaMalloc(&data, kBytes));

#ifdef FIXED
    CHECK(cudaMemset(buffer, 0, kBytes));
#else
    CHECK(cudaMemsetAsync(buffer, 0, kBytes, setting));  // FIRST
#endif
    CHECK(cudaMemcpyAsync(data, buffer, kBytes, cudaMemcpyHostToDevice, upload));  // SECOND
    return finish({data}, {buffer});
}
