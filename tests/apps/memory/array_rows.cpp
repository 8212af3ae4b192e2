// Copies of an array are compared by the rows that they touch.
#include "textures.hpp"

int main() {
    Stream upload, download;
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &kFloat, kSide, kSide));  // ALLOC
    void *source, *target;
    CHECK(cudaMallocHost(&source, kBytes));
    CHECK(cudaMallocHost(&target, kBytes));
    CHECK(cudaMemset(source, 0, kBytes));

    const std::size_t half = kSide / 2;
#ifdef FIXED
    const std::size_t first_row = half;
#else
    const std::size_t first_row = half - 1;
#endif
    CHECK(cudaMemcpy2DToArrayAsync(  // FIRST
        array, 0, 0, source, kRowBytes, kRowBytes, half, cudaMemcpyHostToDevice, upload));
    CHECK(cudaMemcpy2DFromArrayAsync(  // SECOND
        target, kRowBytes, array, 0, first_row, kRowBytes, half, cudaMemcpyDeviceToHost, download));
    return finish_with(array, {}, {source, target});
}
