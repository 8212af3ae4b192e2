// Memory may be freed on another stream than it came from, but then that stream must have waited.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream owner, other;
    float* data;
    CHECK(cudaMallocAsync(&data, kBytes, owner));             // ALLOC
    fill<<<kGrid, kThreads, 0, owner>>>(data, kCount, 1.0F);  // USE
#ifdef FIXED
    order(owner, other);
#endif
    CHECK(cudaFreeAsync(data, other));  // FREE
    return finish();
}
