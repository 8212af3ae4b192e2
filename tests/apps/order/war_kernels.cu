// A kernel that overwrites data must wait for the kernel of another stream that still reads it.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream reader, writer;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    CHECK(cudaMemset(data, 0, kBytes));
    CHECK(cudaDeviceSynchronize());

    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // FIRST
#ifdef FIXED
    order(reader, writer);
#endif
    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 2.0F);  // SECOND
    return finish({data, out});
}
