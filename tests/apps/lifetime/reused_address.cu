// An address handed out again is a new block: what was done to the old one is no use after free.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream streams[2];
    for (int step = 0; step < 50; ++step) {
        cudaStream_t stream = streams[step % 2];
        float *data, *scratch;
        CHECK(cudaMalloc(&data, kBytes));
        CHECK(cudaMallocAsync(&scratch, kBytes, stream));
        fill<<<kGrid, kThreads, 0, stream>>>(data, kCount, 1.0F);
        copy_all<<<kGrid, kThreads, 0, stream>>>(data, scratch, kCount);
        CHECK(cudaFreeAsync(scratch, stream));
        CHECK(cudaFree(data));
    }
    return finish();
}
