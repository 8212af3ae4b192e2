// Destroying a stream waits for nothing: its queued work goes on and still counts.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    {
        Stream writer;
        fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
        CHECK(cudaStreamSynchronize(writer));
#endif
    }
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
