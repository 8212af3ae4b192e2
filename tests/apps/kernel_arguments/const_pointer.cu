// A kernel only reads what it takes as const T*: two readers do not race, a writer does.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream first, second;
    float *data, *out, *other;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    CHECK(cudaMalloc(&other, kBytes));
    CHECK(cudaMemset(data, 0, kBytes));
    CHECK(cudaDeviceSynchronize());

    copy_all<<<kGrid, kThreads, 0, first>>>(data, out, kCount);  // FIRST
#ifdef FIXED
    copy_all<<<kGrid, kThreads, 0, second>>>(data, other, kCount);
#else
    add_one<<<kGrid, kThreads, 0, second>>>(data, kCount);  // SECOND
#endif
    return finish({data, out, other});
}
