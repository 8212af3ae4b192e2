// A 2D memset touches its columns of each row, not the hull: disjoint columns do not race.
#include "app.hpp"

int main() {
    Stream left, right;
    char* data;
    std::size_t pitch;
    const std::size_t width = 512, height = 64;
    CHECK(cudaMallocPitch(&data, &pitch, width, height));  // ALLOC
#ifdef FIXED
    const std::size_t left_width = width / 2;
#else
    const std::size_t left_width = width;
#endif

    CHECK(cudaMemset2DAsync(data, pitch, 1, left_width, height, left));              // FIRST
    CHECK(cudaMemset2DAsync(data + width / 2, pitch, 2, width / 2, height, right));  // SECOND
    return finish({data});
}
