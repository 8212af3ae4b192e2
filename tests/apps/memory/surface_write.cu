// A kernel that is given a surface object may write the array behind it.
#include "textures.hpp"

int main() {
    Stream compute, download;
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &kFloat, kSide, kSide, cudaArraySurfaceLoadStore));  // ALLOC
    const cudaResourceDesc resource = resource_of(array);
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    float* image;
    CHECK(cudaMallocHost(&image, kBytes));

    draw<<<kTiles, kBlock, 0, compute>>>(surface, kSide, 1.0F);  // FIRST
#ifdef FIXED
    order(compute, download);
#endif
    CHECK(cudaMemcpy2DFromArrayAsync(  // SECOND
        image, kRowBytes, array, 0, 0, kRowBytes, kSide, cudaMemcpyDeviceToHost, download));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroySurfaceObject(surface));
    return finish_with(array, {}, {image});
}
