// A texture object may be made of ordinary memory, which is read through it then.
#include "textures.hpp"

int main() {
    Stream first, second;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = kFloat;
    resource.res.linear.sizeInBytes = kBytes;
    const cudaTextureObject_t texture = make_texture(resource);

    CHECK(cudaMemsetAsync(data, 0, kBytes, first));  // FIRST
#ifdef FIXED
    order(first, second);
#endif
    sample_line<<<kCount / 256, 256, 0, second>>>(texture, out, kCount);  // SECOND
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroyTextureObject(texture));
    return finish({data, out});
}
