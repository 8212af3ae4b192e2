// Synchronizing the device orders all work before it; two loops without it run into each other.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    for (int step = 0; step < 4; ++step) {
        fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // WRITE
#ifdef FIXED
        CHECK(cudaDeviceSynchronize());
#endif
        copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // READ
#ifdef FIXED
        CHECK(cudaDeviceSynchronize());
#endif
    }
    return finish({data, out});
}
