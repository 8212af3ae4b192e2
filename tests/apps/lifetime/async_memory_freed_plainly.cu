// cudaFree does not wait for the device when the memory came from cudaMallocAsync.
#include <cstdint>

#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream stream;
    // The pool keeps what is freed, so that the mistake stays without consequence.
    cudaMemPool_t pool;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    std::uint64_t all = UINT64_MAX;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    float* data;
    CHECK(cudaMallocAsync(&data, kBytes, stream));             // ALLOC
    fill<<<kGrid, kThreads, 0, stream>>>(data, kCount, 1.0F);  // USE
#ifdef FIXED
    CHECK(cudaStreamSynchronize(stream));
#endif
    CHECK(cudaFree(data));  // FREE
    return finish();
}
