// Built for per-thread default streams, each host thread has a default stream of its own.
#include <thread>

#include "app.hpp"
#include "kernels.hpp"

int main() {
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    std::thread([&] {
        fill<<<kGrid, kThreads>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
        CHECK(cudaStreamSynchronize(nullptr));
#endif
    }).join();
    std::thread([&] {
        copy_all<<<kGrid, kThreads>>>(data, out, kCount);  // SECOND
    }).join();
    return finish({data, out});
}
