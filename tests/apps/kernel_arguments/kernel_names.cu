// A template kernel and one in a namespace are named readably, with their arguments.
#include "app.hpp"
#include "kernels.hpp"

namespace image {

template <typename Pixel>
__global__ void clear(Pixel* pixels, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) pixels[i] = Pixel{};
}

}  // namespace image

int main() {
    Stream first, second;
    double* data;
    CHECK(cudaMalloc(&data, kCount * sizeof(double)));  // ALLOC

    image::clear<<<kGrid, kThreads, 0, first>>>(data, kCount);  // FIRST
#ifdef FIXED
    order(first, second);
#endif
    image::clear<<<kGrid, kThreads, 0, second>>>(data, kCount);  // SECOND
    return finish({data});
}
