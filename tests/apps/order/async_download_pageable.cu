// An Async copy to pageable memory is complete when it returns, but in practice only: the manual
// leaves that open.
#include <vector>

#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream download, compute;
    std::vector<float> target(kCount);
    float* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMemset(data, 0, kBytes));
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemcpyAsync(target.data(), data, kBytes, cudaMemcpyDeviceToHost, download));  // FIRST
#ifdef FIXED
    CHECK(cudaStreamSynchronize(download));
#endif
    add_one<<<kGrid, kThreads, 0, compute>>>(data, kCount);  // SECOND
    return finish({data});
}
