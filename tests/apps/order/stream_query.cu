// A stream query that answers "complete" is an edge to the host, for that stream.
#include "app.hpp"
#include "kernels.hpp"

void poll(cudaStream_t stream) {
    cudaError_t state;
    while ((state = cudaStreamQuery(stream)) == cudaErrorNotReady) (void)cudaGetLastError();
    CHECK(state);
}

int main() {
    Stream writer, idle, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    poll(writer);
#else
    poll(idle);
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
