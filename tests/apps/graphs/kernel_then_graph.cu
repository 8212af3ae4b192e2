// A graph has to wait for what other streams do with its memory, when it is launched, not when it
// is captured.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    const Executable copying(reader, [&] {
        copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // CAPTURED
    });

    for (int step = 0; step < 3; ++step) {
        fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
        order(writer, reader);
#endif
        CHECK(cudaGraphLaunch(copying, reader));  // LAUNCH
        CHECK(cudaStreamSynchronize(reader));
    }
    return finish({data, out});
}
