// An extern "C" kernel has no signature in its name, so what it writes is unknown: a possible race.
#include "app.hpp"
#include "kernels.hpp"

extern "C" __global__ void plain_fill(float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = 1.0F;
}

int main() {
    Stream writer, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    plain_fill<<<kGrid, kThreads, 0, writer>>>(data, kCount);  // FIRST
#ifdef FIXED
    order(writer, reader);
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
