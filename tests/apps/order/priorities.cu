// A stream of higher priority is served first, but that orders nothing.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    int least, greatest;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t urgent, other;
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, least));
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, urgent>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    order(urgent, other);
#endif
    copy_all<<<kGrid, kThreads, 0, other>>>(data, out, kCount);  // SECOND

    const int status = finish({data, out});
    for (cudaStream_t stream : {urgent, other}) CHECK(cudaStreamDestroy(stream));
    return status;
}
