// Synchronizing the legacy stream tells the host about blocking streams, not about non-blocking.
#include "app.hpp"
#include "kernels.hpp"

int main() {
#ifdef FIXED
    Stream writer(cudaStreamDefault);
#else
    Stream writer(cudaStreamNonBlocking);
#endif
    Stream reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
