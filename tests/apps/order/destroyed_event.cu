// A wait outlives its event: destroying the event right after the wait keeps the order.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    {
        Event written;
        CHECK(cudaEventRecord(written, writer));
#ifdef FIXED
        CHECK(cudaStreamWaitEvent(reader, written, 0));
#endif
    }
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
