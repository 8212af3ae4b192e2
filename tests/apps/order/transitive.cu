// Order is transitive along events, but only if the middle stream waited before it recorded.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, middle, reader;
    Event written, passed_on;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaEventRecord(written, writer));
#ifdef FIXED
    CHECK(cudaStreamWaitEvent(middle, written, 0));
    CHECK(cudaEventRecord(passed_on, middle));
#else
    CHECK(cudaEventRecord(passed_on, middle));
    CHECK(cudaStreamWaitEvent(middle, written, 0));
#endif
    CHECK(cudaStreamWaitEvent(reader, passed_on, 0));
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
