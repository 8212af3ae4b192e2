// Synchronizing a stream tells the host, and so every later call, about that stream's work alone.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, idle, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    CHECK(cudaStreamSynchronize(writer));
#else
    CHECK(cudaStreamSynchronize(idle));
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
