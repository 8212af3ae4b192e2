// Leaks and races in an endless loop, for tests that kill it at any moment.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    for (long step = 0;; ++step) {
        fill<<<1, kThreads, 0, writer>>>(data, kThreads, 1.0F);     // FIRST
        copy_all<<<1, kThreads, 0, reader>>>(data, out, kThreads);  // SECOND
        if (step % 100 == 0) {
            void* lost;
            CHECK(cudaMalloc(&lost, 64));  // LEAK
            CHECK(cudaDeviceSynchronize());
        }
        if (step == 100) {
            std::puts("looping");
            std::fflush(stdout);
        }
    }
}
