// A stream created after another was destroyed is a new stream, even at the same handle.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    {
        Stream writer;
        fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
        CHECK(cudaDeviceSynchronize());
#endif
    }
    Stream reader;
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
