// A kernel that is given a texture object reads the array behind it.
#include "textures.hpp"

int main() {
    Stream upload, compute;
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &kFloat, kSide, kSide));  // ALLOC
    const cudaTextureObject_t texture = make_texture(resource_of(array));
    float *out, *image;
    CHECK(cudaMalloc(&out, kBytes));
    CHECK(cudaMallocHost(&image, kBytes));
    std::fill_n(image, kCount, 1.0F);

    CHECK(cudaMemcpy2DToArrayAsync(  // FIRST
        array, 0, 0, image, kRowBytes, kRowBytes, kSide, cudaMemcpyHostToDevice, upload));
#ifdef FIXED
    order(upload, compute);
#endif
    sample<<<kTiles, kBlock, 0, compute>>>(texture, out, kSide);  // SECOND
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroyTextureObject(texture));
    return finish_with(array, {out}, {image});
}
