// A wait takes the record issued before it: waiting for an event never recorded does nothing.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    Event written;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    CHECK(cudaEventRecord(written, writer));
    CHECK(cudaStreamWaitEvent(reader, written, 0));
#else
    CHECK(cudaStreamWaitEvent(reader, written, 0));
    CHECK(cudaEventRecord(written, writer));
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
