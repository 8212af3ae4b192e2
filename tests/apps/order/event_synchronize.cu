// Synchronizing an event tells the host about the work before its record, not after.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    Event written;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);
    CHECK(cudaEventRecord(written, writer));
#ifndef FIXED
    add_one<<<kGrid, kThreads, 0, writer>>>(data, kCount);  // FIRST
#endif
    CHECK(cudaEventSynchronize(written));
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
