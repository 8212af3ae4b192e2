// Copies touch exactly their bytes: two halves of one block may be filled at once, not their seam.
#include "app.hpp"

int main() {
    Stream first, second;
    char *data, *source;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMallocHost(&source, kBytes));
#ifdef FIXED
    const std::size_t overlap = 0;
#else
    const std::size_t overlap = 4;
#endif
    const std::size_t half = kBytes / 2;

    CHECK(cudaMemcpyAsync(data, source, half + overlap, cudaMemcpyHostToDevice, first));  // FIRST
    CHECK(cudaMemcpyAsync(data + half, source, half, cudaMemcpyHostToDevice, second));    // SECOND
    return finish({data}, {source});
}
