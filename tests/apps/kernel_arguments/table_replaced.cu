// A table that is written anew points to what it holds now, and no longer to what it held.
#include "app.hpp"
#include "kernels.hpp"
#include "tables.hpp"

int main() {
    Stream filling, scaling;
    float *matrices[kMatrices], *others[kMatrices];
    for (float*& matrix : matrices) CHECK(cudaMalloc(&matrix, kBytes));
    for (float*& matrix : others) CHECK(cudaMalloc(&matrix, kBytes));  // ALLOC
    float** const table = app::upload_table<float>(matrices);
    CHECK(cudaMemcpy(table, others, sizeof others, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());

#ifdef FIXED
    fill<<<kGrid, kThreads, 0, filling>>>(matrices[0], kCount, 1.0F);
#else
    fill<<<kGrid, kThreads, 0, filling>>>(others[0], kCount, 1.0F);  // FIRST
#endif
    scale_all<<<kGrid, kThreads, 0, scaling>>>(table, kCount);  // SECOND
    CHECK(cudaDeviceSynchronize());
    for (float* matrix : others) CHECK(cudaFree(matrix));
    return finish({matrices[0], matrices[1], matrices[2], matrices[3], table});
}
