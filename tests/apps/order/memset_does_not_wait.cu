// cudaMemset of device memory returns before it has run, although it is no Async call.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream compute;
    float* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC

    CHECK(cudaMemset(data, 0, kBytes));  // FIRST
#ifdef FIXED
    CHECK(cudaStreamSynchronize(cudaStreamLegacy));
#endif
    add_one<<<kGrid, kThreads, 0, compute>>>(data, kCount);  // SECOND
    return finish({data});
}
