// cudaMemcpy from pageable memory may return before the transfer has run; from pinned it does not.
#include <vector>

#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream compute;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
#ifdef FIXED
    float* source;
    CHECK(cudaMallocHost(&source, kBytes));
#else
    std::vector<float> pageable(kCount);
    float* source = pageable.data();
#endif

    CHECK(cudaMemcpy(data, source, kBytes, cudaMemcpyHostToDevice));  // FIRST
    copy_all<<<kGrid, kThreads, 0, compute>>>(data, out, kCount);     // SECOND
#ifdef FIXED
    return finish({data, out}, {source});
#else
    return finish({data, out});
#endif
}
