// An event query that answers "complete" is an edge to the host, for what that event stands for.
#include "app.hpp"
#include "kernels.hpp"

void poll(cudaEvent_t event) {
    cudaError_t state;
    while ((state = cudaEventQuery(event)) == cudaErrorNotReady) (void)cudaGetLastError();
    CHECK(state);
}

int main() {
    Stream writer, reader;
    Event written, unrelated;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaEventRecord(written, writer));
    CHECK(cudaEventRecord(unrelated, reader));
#ifdef FIXED
    poll(written);
#else
    poll(unrelated);
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
