// A pinned buffer must not be downloaded into while an upload still reads it.
#include "app.hpp"

int main() {
    Stream upload, download;
    void *from, *to, *buffer;
    CHECK(cudaMalloc(&from, kBytes));
    CHECK(cudaMalloc(&to, kBytes));
    CHECK(cudaHostAlloc(&buffer, kBytes, cudaHostAllocDefault));  // ALLOC

    CHECK(cudaMemcpyAsync(to, buffer, kBytes, cudaMemcpyHostToDevice, upload));  // FIRST
#ifdef FIXED
    CHECK(cudaStreamSynchronize(upload));
#endif
    CHECK(cudaMemcpyAsync(buffer, from, kBytes, cudaMemcpyDeviceToHost, download));  // SECOND
    return finish({from, to}, {buffer});
}
