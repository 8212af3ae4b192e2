// An event recorded on the legacy stream stands for the blocking streams, not the non-blocking.
#include "app.hpp"
#include "kernels.hpp"

int main() {
#ifdef FIXED
    Stream writer(cudaStreamDefault);
#else
    Stream writer(cudaStreamNonBlocking);
#endif
    Stream reader;
    Event reached;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaEventRecord(reached, cudaStreamLegacy));
    CHECK(cudaStreamWaitEvent(reader, reached, 0));
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
