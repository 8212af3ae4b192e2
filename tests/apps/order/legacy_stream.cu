// The legacy default stream is ordered with blocking streams and with them only.
#include "app.hpp"
#include "kernels.hpp"

int main() {
#ifdef FIXED
    Stream reader(cudaStreamDefault);
#else
    Stream reader(cudaStreamNonBlocking);
#endif
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads>>>(data, kCount, 1.0F);                // FIRST
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
