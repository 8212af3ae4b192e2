// Two memsets of the same bytes on unordered streams: both ranges are exact, the race is proven.
#include "app.hpp"

int main() {
    Stream first, second;
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC

    CHECK(cudaMemsetAsync(data, 1, kBytes, first));  // FIRST
#ifdef FIXED
    order(first, second);
#endif
    CHECK(cudaMemsetAsync(data, 2, kBytes, second));  // SECOND
    return finish({data});
}
