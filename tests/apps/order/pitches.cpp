// Rows of different pitches are compared row by row: of every third row the left half, of every
// second one the right half.
#include "app.hpp"

int main() {
    Stream left, right;
    const std::size_t width = 500, row = 512, rows = 120;
    char *data, *source;
    CHECK(cudaMalloc(&data, row * rows));  // ALLOC
    CHECK(cudaMallocHost(&source, width * rows));
#ifdef FIXED
    const std::size_t left_width = width / 2;
#else
    const std::size_t left_width = width / 2 + 1;
#endif
    char* const middle = data + row + width / 2;
    const std::size_t half = width / 2, pitch = 2 * row;
    const auto up = cudaMemcpyHostToDevice;
    CHECK(cudaMemset2DAsync(data, 3 * row, 0, left_width, rows / 3, left));            // FIRST
    CHECK(cudaMemcpy2DAsync(middle, pitch, source, half, half, rows / 3, up, right));  // SECOND
    return finish({data}, {source});
}
