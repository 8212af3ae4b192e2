// Blocks leaked at one place are one finding, with their number and bytes.
#include "app.hpp"

int main() {
    for (int step = 0; step < 10; ++step) {
        void* data;
        CHECK(cudaMalloc(&data, 1000));  // ALLOC
#ifndef FIXED
        if (step % 2 == 0) continue;
#endif
        CHECK(cudaFree(data));
    }
    return finish();
}
