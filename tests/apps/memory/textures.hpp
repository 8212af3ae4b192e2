// Arrays of floats, objects made from them, and kernels that use the objects.
#pragma once

#include <algorithm>

#include "app.hpp"

constexpr std::size_t kSide = 256;
constexpr std::size_t kRowBytes = kSide * sizeof(float);

const cudaChannelFormatDesc kFloat{32, 0, 0, 0, cudaChannelFormatKindFloat};

inline cudaResourceDesc resource_of(cudaArray_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

inline cudaTextureObject_t make_texture(const cudaResourceDesc& resource) {
    cudaTextureDesc description{};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

/// The proper end of a program that has used an array.
inline int finish_with(cudaArray_t array, std::initializer_list<void*> device_blocks,
                       std::initializer_list<void*> pinned_blocks) {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeArray(array));
    return finish(device_blocks, pinned_blocks);
}

#ifdef __CUDACC__
constexpr dim3 kBlock{16, 16};
constexpr dim3 kTiles{kSide / 16, kSide / 16};

__global__ void sample(cudaTextureObject_t texture, float* out, int side) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < side && y < side) {
        out[y * side + x] = tex2D<float>(texture, static_cast<float>(x), static_cast<float>(y));
    }
}

__global__ void draw(cudaSurfaceObject_t surface, int side, float value) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < side && y < side) {
        surf2Dwrite(value, surface, x * static_cast<int>(sizeof(float)), y);
    }
}

__global__ void sample_line(cudaTextureObject_t texture, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = tex1Dfetch<float>(texture, i);
}
#endif
