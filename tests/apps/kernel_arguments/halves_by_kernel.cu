// How far a kernel reaches from its pointer is unknown: two parts of a block are only possible
// races.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream first, second;
    float* data;
    const int half = kCount / 2;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC

    fill<<<kGrid, kThreads, 0, first>>>(data, half, 1.0F);  // FIRST
#ifdef FIXED
    order(first, second);
#endif
    fill<<<kGrid, kThreads, 0, second>>>(data + half, half, 2.0F);  // SECOND
    return finish({data});
}
