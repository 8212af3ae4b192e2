// Memory of a pool that the program made is its own to free, as is that of the default pool.
#include "app.hpp"

int main() {
    Stream stream;
    cudaMemPool_t pool;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPoolCreate(&pool, &properties));
    void* data;
    CHECK(cudaMallocFromPoolAsync(&data, kBytes, pool, stream));  // ALLOC
    CHECK(cudaMemsetAsync(data, 0, kBytes, stream));
#ifdef FIXED
    CHECK(cudaFreeAsync(data, stream));
#endif
    CHECK(cudaStreamSynchronize(stream));
#ifdef FIXED
    CHECK(cudaMemPoolDestroy(pool));
#endif
    return finish();
}
