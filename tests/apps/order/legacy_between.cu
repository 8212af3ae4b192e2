// Work on the legacy stream orders what blocking streams did before it and do after it.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer(cudaStreamDefault), reader(cudaStreamDefault);
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    CHECK(cudaMemsetAsync(out, 0, kBytes, cudaStreamLegacy));
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
