// A plain copy from host to host is complete when it returns; an Async one is so in practice only.
#include "app.hpp"

int main() {
    Stream copying, upload;
    void *from, *to, *data;
    CHECK(cudaMallocHost(&from, kBytes));
    CHECK(cudaMallocHost(&to, kBytes));  // ALLOC
    CHECK(cudaMalloc(&data, kBytes));

#ifdef FIXED
    CHECK(cudaMemcpy(to, from, kBytes, cudaMemcpyHostToHost));
#else
    CHECK(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyHostToHost, copying));  // FIRST
#endif
    CHECK(cudaMemcpyAsync(data, to, kBytes, cudaMemcpyHostToDevice, upload));  // SECOND
    return finish({data}, {from, to});
}
