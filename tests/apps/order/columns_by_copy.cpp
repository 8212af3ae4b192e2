// A 2D copy touches its columns of each row, not the hull: disjoint columns do not race.
#include "app.hpp"

int main() {
    Stream left, right;
    char *data, *source;
    std::size_t pitch;
    const std::size_t width = 512, height = 64;
    CHECK(cudaMallocPitch(&data, &pitch, width, height));  // ALLOC
    CHECK(cudaMallocHost(&source, width * height));
#ifdef FIXED
    const std::size_t left_width = width / 2;
#else
    const std::size_t left_width = width / 2 + 1;
#endif
    char* middle = data + width / 2;
    const auto up = cudaMemcpyHostToDevice;

    CHECK(cudaMemcpy2DAsync(data, pitch, source, width, left_width, height, up, left));    // FIRST
    CHECK(cudaMemcpy2DAsync(middle, pitch, source, width, width / 2, height, up, right));  // SECOND
    return finish({data}, {source});
}
