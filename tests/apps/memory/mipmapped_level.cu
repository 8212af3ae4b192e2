// A level of a mipmapped array is part of what a texture made of the whole array reads.
#include "textures.hpp"

int main() {
    Stream upload, compute;
    cudaMipmappedArray_t levels;
    CHECK(cudaMallocMipmappedArray(&levels, &kFloat, cudaExtent{kSide, kSide, 0}, 3));  // ALLOC
    cudaArray_t level;
    CHECK(cudaGetMipmappedArrayLevel(&level, levels, 0));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = levels;
    cudaTextureDesc description{};
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = 1;
    description.maxMipmapLevelClamp = 2.0F;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    float *out, *image;
    CHECK(cudaMalloc(&out, kBytes));
    CHECK(cudaMallocHost(&image, kBytes));
    std::fill_n(image, kCount, 1.0F);

    CHECK(cudaMemcpy2DToArrayAsync(  // FIRST
        level, 0, 0, image, kRowBytes, kRowBytes, kSide, cudaMemcpyHostToDevice, upload));
#ifdef FIXED
    order(upload, compute);
#endif
    sample<<<kTiles, kBlock, 0, compute>>>(texture, out, kSide);  // SECOND
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeMipmappedArray(levels));
    return finish({out}, {image});
}
