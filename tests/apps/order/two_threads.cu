// Host threads do not order the device: what one has launched still runs when it has ended.
#include <thread>

#include "app.hpp"
#include "kernels.hpp"

int main() {
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    std::thread([&] {
        Stream writer;
        fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
        CHECK(cudaStreamSynchronize(writer));
#endif
    }).join();
    std::thread([&] {
        Stream reader;
        copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    }).join();
    return finish({data, out});
}
