// A copy within the device takes the pointers of a table along.
#include "app.hpp"
#include "kernels.hpp"
#include "tables.hpp"

int main() {
    Stream filling, scaling;
    float *matrices[kMatrices], **copied;
    for (float*& matrix : matrices) CHECK(cudaMalloc(&matrix, kBytes));  // ALLOC
    float** const table = app::upload_table<float>(matrices);
    CHECK(cudaMalloc(&copied, sizeof matrices));
    CHECK(cudaMemcpy(copied, table, sizeof matrices, cudaMemcpyDeviceToDevice));
    CHECK(cudaDeviceSynchronize());

    scale_all<<<kGrid, kThreads, 0, scaling>>>(copied, kCount);  // FIRST
#ifdef FIXED
    order(scaling, filling);
#endif
    fill<<<kGrid, kThreads, 0, filling>>>(matrices[3], kCount, 1.0F);  // SECOND
    return finish({matrices[0], matrices[1], matrices[2], matrices[3], table, copied});
}
