// CUDA arrays are device memory too and leak alike.
#include "app.hpp"

int main() {
    const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaArray_t flat, cube;
    cudaMipmappedArray_t levels;
    CHECK(cudaMallocArray(&flat, &format, 256, 256));                             // FLAT
    CHECK(cudaMalloc3DArray(&cube, &format, cudaExtent{64, 64, 8}));              // CUBE
    CHECK(cudaMallocMipmappedArray(&levels, &format, cudaExtent{64, 64, 0}, 3));  // LEVELS
#ifdef FIXED
    CHECK(cudaFreeArray(flat));
    CHECK(cudaFreeArray(cube));
    CHECK(cudaFreeMipmappedArray(levels));
#endif
    return finish();
}
