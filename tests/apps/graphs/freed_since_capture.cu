// A graph keeps the addresses it was captured with: what they point to must not be freed before its
// last launch.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "kernels.hpp"

int main() {
    Stream stream;
    float* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const Executable adding(stream, [&] {
        add_one<<<kGrid, kThreads, 0, stream>>>(data, 0);  // CAPTURED
    });

    CHECK(cudaGraphLaunch(adding, stream));
    CHECK(cudaStreamSynchronize(stream));
#ifdef FIXED
    CHECK(cudaGraphLaunch(adding, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(data));
#else
    CHECK(cudaFree(data));                   // FREE
    CHECK(cudaGraphLaunch(adding, stream));  // USE
#endif
    return finish();
}
