// Memory that was freed must not be handed to a kernel any more, whatever the kernel does with it.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream stream;
    float* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC

    fill<<<kGrid, kThreads, 0, stream>>>(data, kCount, 1.0F);
    CHECK(cudaStreamSynchronize(stream));
#ifdef FIXED
    add_one<<<kGrid, kThreads, 0, stream>>>(data, 0);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(data));
#else
    CHECK(cudaFree(data));                             // FREE
    add_one<<<kGrid, kThreads, 0, stream>>>(data, 0);  // USE
#endif
    return finish();
}
