// A per-thread default stream is a blocking stream: the legacy stream orders it, others do not.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream other(cudaStreamDefault);
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, cudaStreamPerThread>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    copy_all<<<kGrid, kThreads, 0, cudaStreamLegacy>>>(data, out, kCount);
#else
    copy_all<<<kGrid, kThreads, 0, other>>>(data, out, kCount);  // SECOND
#endif
    return finish({data, out});
}
