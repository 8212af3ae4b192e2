// cudaFree of ordinary memory waits for the device in practice: a note for those who ask for it.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream stream;
    float* data;
    CHECK(cudaMalloc(&data, kBytes));                          // ALLOC
    fill<<<kGrid, kThreads, 0, stream>>>(data, kCount, 1.0F);  // USE
#ifdef FIXED
    CHECK(cudaStreamSynchronize(stream));
#endif
    CHECK(cudaFree(data));  // FREE
    return finish();
}
