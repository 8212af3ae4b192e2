// Memory of a pool that the program made is checked like any other, and trimming the pool waits for
// nothing.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    cudaMemPool_t pool;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPoolCreate(&pool, &properties));
    {
        Stream first, second;
        float* data;
        CHECK(cudaMallocFromPoolAsync(&data, kBytes, pool, first));  // ALLOC
        CHECK(cudaStreamSynchronize(first));
        fill<<<kGrid, kThreads, 0, first>>>(data, kCount, 1.0F);  // FIRST
        CHECK(cudaMemPoolTrimTo(pool, 0));
#ifdef FIXED
        order(first, second);
#endif
        add_one<<<kGrid, kThreads, 0, second>>>(data, kCount);  // SECOND
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFreeAsync(data, first));
        CHECK(cudaStreamSynchronize(first));
    }
    CHECK(cudaMemPoolDestroy(pool));
    return finish();
}
