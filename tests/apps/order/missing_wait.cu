// Recording an event orders nothing by itself: the other stream has to wait for it.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    Event written;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaEventRecord(written, writer));
#ifdef FIXED
    CHECK(cudaStreamWaitEvent(reader, written, 0));
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
