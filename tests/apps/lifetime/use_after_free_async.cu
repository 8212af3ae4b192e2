// After cudaFreeAsync even work queued on the same stream must not use the memory.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream stream;
    float* data;
    CHECK(cudaMallocAsync(&data, kBytes, stream));  // ALLOC

    fill<<<kGrid, kThreads, 0, stream>>>(data, kCount, 1.0F);
#ifdef FIXED
    add_one<<<kGrid, kThreads, 0, stream>>>(data, 0);
    CHECK(cudaFreeAsync(data, stream));
#else
    CHECK(cudaFreeAsync(data, stream));                // FREE
    add_one<<<kGrid, kThreads, 0, stream>>>(data, 0);  // USE
#endif
    return finish();
}
