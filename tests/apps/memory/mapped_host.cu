// Pinned memory that a kernel uses by its device address is what copies use by its host address.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream compute, download;
    void *pinned, *mapped, *target;
    const unsigned flags = cudaHostAllocMapped | cudaHostAllocWriteCombined;
    CHECK(cudaHostAlloc(&pinned, kBytes, flags));  // ALLOC
    CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0));
    CHECK(cudaMalloc(&target, kBytes));

    fill<<<kGrid, kThreads, 0, compute>>>(static_cast<float*>(mapped), kCount, 1.0F);  // FIRST
#ifdef FIXED
    order(compute, download);
#endif
    CHECK(cudaMemcpyAsync(target, pinned, kBytes, cudaMemcpyHostToDevice, download));  // SECOND
    return finish({target}, {pinned});
}
