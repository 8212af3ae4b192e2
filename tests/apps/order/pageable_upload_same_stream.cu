// The pageable upload is no trap for work that its stream orders: a blocking stream waits for it.
#include <vector>

#include "app.hpp"
#include "kernels.hpp"

int main() {
#ifdef FIXED
    Stream compute(cudaStreamDefault);
#else
    Stream compute(cudaStreamNonBlocking);
#endif
    std::vector<float> source(kCount);
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    CHECK(cudaMemcpy(data, source.data(), kBytes, cudaMemcpyHostToDevice));  // FIRST
    add_one<<<kGrid, kThreads, 0, compute>>>(data, kCount);                  // SECOND
    return finish({data, out});
}
