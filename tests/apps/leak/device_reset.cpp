// Resetting the device ends its context and with it every block: what it took along is no leak.
#include "app.hpp"

int main() {
    void *data, *pinned;
    CHECK(cudaMalloc(&data, kBytes));        // DEVICE
    CHECK(cudaMallocHost(&pinned, kBytes));  // PINNED
    CHECK(cudaMemset(data, 0, kBytes));
    CHECK(cudaDeviceSynchronize());
#ifdef FIXED
    CHECK(cudaDeviceReset());
#endif
    std::puts("done");
    return 0;
}
