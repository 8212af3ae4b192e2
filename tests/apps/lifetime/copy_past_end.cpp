// A copy must end with the block it copies to, even if the call then fails.
#include "app.hpp"

int main() {
    Stream stream;
    void *data, *source;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMallocHost(&source, 2 * kBytes));

#ifdef FIXED
    CHECK(cudaMemcpyAsync(data, source, kBytes, cudaMemcpyHostToDevice, stream));
#else
    (void)cudaMemcpyAsync(data, source, kBytes + 1, cudaMemcpyHostToDevice, stream);  // USE
    (void)cudaGetLastError();
#endif
    CHECK(cudaStreamSynchronize(stream));
    return finish({data}, {source});
}
