// A copy to the host must wait for the copy of another stream that fills its source.
#include "app.hpp"

int main() {
    Stream upload, download;
    void *data, *source, *target;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMallocHost(&source, kBytes));
    CHECK(cudaMallocHost(&target, kBytes));

    CHECK(cudaMemcpyAsync(data, source, kBytes, cudaMemcpyHostToDevice, upload));  // FIRST
#ifdef FIXED
    order(upload, download);
#endif
    CHECK(cudaMemcpyAsync(target, data, kBytes, cudaMemcpyDeviceToHost, download));  // SECOND
    return finish({data}, {source, target});
}
