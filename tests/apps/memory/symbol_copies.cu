// A variable of device code is memory like any other to the copies that name it.
#include "app.hpp"

__device__ float table[app::kCount];

int main() {
    Stream upload, download;
    float *source, *target;
    CHECK(cudaMallocHost(&source, kBytes));
    CHECK(cudaMallocHost(&target, kBytes));
    CHECK(cudaMemset(source, 0, kBytes));

    CHECK(cudaMemcpyToSymbolAsync(  // FIRST
        table, source, kBytes, 0, cudaMemcpyHostToDevice, upload));
#ifdef FIXED
    order(upload, download);
#endif
    CHECK(cudaMemcpyFromSymbolAsync(  // SECOND
        target, table, kBytes, 0, cudaMemcpyDeviceToHost, download));
    return finish({}, {source, target});
}
