// cudaFree does not wait for the device when the memory came from cudaMallocAsync.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream stream;
    float* data;
    CHECK(cudaMallocAsync(&data, kBytes, stream));             // ALLOC
    fill<<<kGrid, kThreads, 0, stream>>>(data, kCount, 1.0F);  // USE
#ifdef FIXED
    CHECK(cudaStreamSynchronize(stream));
#endif
    CHECK(cudaFree(data));  // FREE
    return finish();
}
