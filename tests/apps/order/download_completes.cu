// A copy to the host that has returned is complete, and so is its stream; an Async one is not.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer(cudaStreamDefault), compute;
    float *data, *target;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMallocHost(&target, kBytes));

    CHECK(cudaMemsetAsync(data, 0, kBytes, writer));
#ifdef FIXED
    CHECK(cudaMemcpy(target, data, kBytes, cudaMemcpyDeviceToHost));
#else
    CHECK(cudaStreamSynchronize(writer));
    CHECK(cudaMemcpyAsync(target, data, kBytes, cudaMemcpyDeviceToHost, writer));  // FIRST
#endif
    add_one<<<kGrid, kThreads, 0, compute>>>(data, kCount);  // SECOND
    return finish({data}, {target});
}
