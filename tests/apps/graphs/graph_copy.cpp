// Copies in a graph touch exact bytes, as they do in a stream.
#include "app.hpp"
#include "graphs/executable.hpp"

int main() {
    Stream uploading, working;
    float *host, *data, *out;
    CHECK(cudaMallocHost(&host, kBytes));
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    const Executable copying(working, [&] {
        CHECK(cudaMemcpyAsync(out, data, kBytes, cudaMemcpyDeviceToDevice, working));  // CAPTURED
    });

    CHECK(cudaMemcpyAsync(data, host, kBytes, cudaMemcpyHostToDevice, uploading));  // FIRST
#ifdef FIXED
    order(uploading, working);
#endif
    CHECK(cudaGraphLaunch(copying, working));  // LAUNCH
    return finish({data, out}, {host});
}
