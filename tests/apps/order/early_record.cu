// An event covers the work queued before its record: recorded before the launch, it misses it.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    Event written;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

#ifndef FIXED
    CHECK(cudaEventRecord(written, writer));
#endif
    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    CHECK(cudaEventRecord(written, writer));
#endif
    CHECK(cudaStreamWaitEvent(reader, written, 0));
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
