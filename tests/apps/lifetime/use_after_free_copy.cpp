// Memory that was freed must not be copied from, even if the call then fails.
#include "app.hpp"

int main() {
    Stream stream;
    float *data, *target;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMallocHost(&target, kBytes));

#ifdef FIXED
    CHECK(cudaMemcpyAsync(target, data, kBytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(data));
#else
    CHECK(cudaFree(data));                                                        // FREE
    (void)cudaMemcpyAsync(target, data, kBytes, cudaMemcpyDeviceToHost, stream);  // USE
    (void)cudaGetLastError();
#endif
    return finish({}, {target});
}
