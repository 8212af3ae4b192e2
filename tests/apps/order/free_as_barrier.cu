// cudaFree of another block is the only thing between a kernel and its reader: it waits in
// practice, but not with memory from a pool.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    float *data, *copy, *other;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&copy, kBytes));
    CHECK(cudaMalloc(&other, kBytes));
    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaFree(other));
#ifdef FIXED
    order(writer, reader);
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, copy, kCount);  // SECOND
    return finish({data, copy});
}
