// Every kind of device memory that is never freed is a leak.
#include "app.hpp"

int main() {
    Stream stream;
    void *plain, *pitched, *managed, *ordered;
    std::size_t pitch;
    cudaPitchedPtr cube;
    CHECK(cudaMalloc(&plain, kBytes));                    // PLAIN
    CHECK(cudaMallocPitch(&pitched, &pitch, 1000, 10));   // PITCHED
    CHECK(cudaMallocManaged(&managed, kBytes));           // MANAGED
    CHECK(cudaMallocAsync(&ordered, kBytes, stream));     // ORDERED
    CHECK(cudaMalloc3D(&cube, cudaExtent{1000, 10, 4}));  // CUBE
#ifdef FIXED
    CHECK(cudaFreeAsync(ordered, stream));
    return finish({plain, pitched, managed, cube.ptr});
#else
    return finish();
#endif
}
