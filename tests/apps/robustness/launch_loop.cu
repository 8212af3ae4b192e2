// Launches as often as the argument says; prints the process's memory in KiB after a tenth and at
// the end.
#include "app.hpp"
#include "kernels.hpp"
#include "robustness/resident_memory.hpp"

int main(int argc, char** argv) {
    const long launches = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1000;
    Stream streams[2];
    float* data[2];
    for (float*& block : data) CHECK(cudaMalloc(&block, kBytes));
    for (long i = 0; i < launches; ++i) {
        fill<<<1, kThreads, 0, streams[i % 2]>>>(data[i % 2], kThreads, 1.0F);
        if (i % 256 == 255) order(streams[0], streams[1]);
        if (i % 1024 == 1023) CHECK(cudaStreamSynchronize(streams[1]));
        if (i == launches / 10) std::printf("%ld\n", resident_kib());
    }
    CHECK(cudaDeviceSynchronize());
    std::printf("%ld\n", resident_kib());
    for (float* block : data) CHECK(cudaFree(block));
    return 0;
}
