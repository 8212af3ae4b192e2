// A kernel that is given a table of pointers may touch what they point to: whoever fills one of the
// matrices has to be waited for.
#include "app.hpp"
#include "kernels.hpp"
#include "tables.hpp"

int main() {
    Stream filling, scaling;
    float* matrices[kMatrices];
    for (float*& matrix : matrices) CHECK(cudaMalloc(&matrix, kBytes));  // ALLOC
    float** const table = app::upload_table<float>(matrices);

    fill<<<kGrid, kThreads, 0, filling>>>(matrices[2], kCount, 1.0F);  // FIRST
#ifdef FIXED
    order(filling, scaling);
#endif
    scale_all<<<kGrid, kThreads, 0, scaling>>>(table, kCount);  // SECOND
    return finish({matrices[0], matrices[1], matrices[2], matrices[3], table});
}
