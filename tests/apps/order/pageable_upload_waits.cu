// A plain upload from pageable memory first waits for the work before it on the legacy stream, and
// so for blocking streams: the host knows that complete. It knows nothing of non-blocking streams.
#include <vector>

#include "app.hpp"
#include "kernels.hpp"

int main() {
#ifdef FIXED
    Stream writer(cudaStreamDefault);
#else
    Stream writer;
#endif
    Stream reader;
    const std::vector<float> source(kCount);
    float *data, *out, *other;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    CHECK(cudaMalloc(&other, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaMemcpy(other, source.data(), kBytes, cudaMemcpyHostToDevice));
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out, other});
}
