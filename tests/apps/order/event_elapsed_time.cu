// A successful cudaEventElapsedTime tells the host that both its events are complete.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    CHECK(cudaEventRecord(begin, writer));
    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaEventRecord(end, writer));
#ifdef FIXED
    float milliseconds;
    cudaError_t state;
    while ((state = cudaEventElapsedTime(&milliseconds, begin, end)) == cudaErrorNotReady) {
        (void)cudaGetLastError();
    }
    CHECK(state);
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return finish({data, out});
}
