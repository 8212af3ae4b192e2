// A plain cudaMemcpy runs on the legacy stream, which does not wait for non-blocking streams.
#include <vector>

#include "app.hpp"
#include "kernels.hpp"

int main() {
#ifdef FIXED
    Stream writer(cudaStreamDefault);
#else
    Stream writer(cudaStreamNonBlocking);
#endif
    std::vector<float> target(kCount);
    float* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);                // FIRST
    CHECK(cudaMemcpy(target.data(), data, kBytes, cudaMemcpyDeviceToHost));  // SECOND
    return finish({data});
}
