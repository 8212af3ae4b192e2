// A pinned buffer is tracked too: it must not be sent on while a download into it is in flight.
#include "app.hpp"

int main() {
    Stream download, upload;
    void *from, *to, *buffer;
    CHECK(cudaMalloc(&from, kBytes));
    CHECK(cudaMalloc(&to, kBytes));
    CHECK(cudaMallocHost(&buffer, kBytes));  // ALLOC

    CHECK(cudaMemcpyAsync(buffer, from, kBytes, cudaMemcpyDeviceToHost, download));  // FIRST
#ifdef FIXED
    order(download, upload);
#endif
    CHECK(cudaMemcpyAsync(to, buffer, kBytes, cudaMemcpyHostToDevice, upload));  // SECOND
    return finish({from, to}, {buffer});
}
