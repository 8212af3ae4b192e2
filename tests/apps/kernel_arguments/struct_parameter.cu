// Pointers inside a struct are found too, but not whether they are written: a possible race.
#include "app.hpp"
#include "kernels.hpp"

struct Work {
    int count;
    const float* in;
    float* out;
};

__global__ void run(Work work) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < work.count) work.out[i] = work.in[i];
}

int main() {
    Stream first, second;
    float *data, *in, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&in, kBytes));
    CHECK(cudaMalloc(&out, kBytes));

    run<<<kGrid, kThreads, 0, first>>>(Work{kCount, in, data});  // FIRST
#ifdef FIXED
    order(first, second);
#endif
    run<<<kGrid, kThreads, 0, second>>>(Work{kCount, data, out});  // SECOND
    return finish({data, in, out});
}
