// A texture object does not keep its array: it must not be used after the array was freed.
#include "textures.hpp"

int main() {
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &kFloat, kSide, kSide));  // ALLOC
    const cudaTextureObject_t texture = make_texture(resource_of(array));
    float* out;
    CHECK(cudaMalloc(&out, kBytes));
    constexpr int kNothing = 0;
#ifdef FIXED
    sample<<<kTiles, kBlock>>>(texture, out, kNothing);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeArray(array));
#else
    CHECK(cudaFreeArray(array));                         // FREE
    sample<<<kTiles, kBlock>>>(texture, out, kNothing);  // USE
    CHECK(cudaDeviceSynchronize());
#endif
    CHECK(cudaDestroyTextureObject(texture));
    return finish({out});
}
