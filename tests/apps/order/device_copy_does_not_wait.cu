// cudaMemcpy from device to device returns before it has run, although it is no Async call.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream compute;
    float *data, *source;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&source, kBytes));

    CHECK(cudaMemcpy(data, source, kBytes, cudaMemcpyDeviceToDevice));  // FIRST
#ifdef FIXED
    CHECK(cudaStreamSynchronize(cudaStreamLegacy));
#endif
    add_one<<<kGrid, kThreads, 0, compute>>>(data, kCount);  // SECOND
    return finish({data, source});
}
