// A wait takes the last record issued before it; recording the event again later changes nothing.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, idle, reader;
    Event written;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaEventRecord(written, writer));
#ifdef FIXED
    CHECK(cudaStreamWaitEvent(reader, written, 0));
    CHECK(cudaEventRecord(written, idle));
#else
    CHECK(cudaEventRecord(written, idle));
    CHECK(cudaStreamWaitEvent(reader, written, 0));
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
