// Whether a kernel writes through a table its parameter tells: two that take const float* const* do
// not race, one that takes float* const* races with them.
#include "app.hpp"
#include "tables.hpp"

int main() {
    Stream first, second;
    float* matrices[kMatrices];
    float *sums, *other_sums;
    for (float*& matrix : matrices) {
        CHECK(cudaMalloc(&matrix, kBytes));  // ALLOC
        CHECK(cudaMemset(matrix, 0, kBytes));
    }
    CHECK(cudaMalloc(&sums, kBytes));
    CHECK(cudaMalloc(&other_sums, kBytes));
    float** const table = app::upload_table<float>(matrices);
    const int grid = kCount / 256;

    sum_all<<<grid, 256, 0, first>>>(table, sums, kCount);  // FIRST
#ifdef FIXED
    sum_all<<<grid, 256, 0, second>>>(table, other_sums, kCount);
#else
    scale_all<<<grid, 256, 0, second>>>(table, kCount);  // SECOND
#endif
    CHECK(cudaDeviceSynchronize());
    return finish({matrices[0], matrices[1], matrices[2], matrices[3], sums, other_sums, table});
}
