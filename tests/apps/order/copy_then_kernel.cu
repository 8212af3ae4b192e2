// A kernel must wait for the asynchronous copy of another stream that brings its input.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream upload, compute;
    float *data, *out, *source;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    CHECK(cudaMallocHost(&source, kBytes));

    CHECK(cudaMemcpyAsync(data, source, kBytes, cudaMemcpyHostToDevice, upload));  // FIRST
#ifdef FIXED
    order(upload, compute);
#endif
    copy_all<<<kGrid, kThreads, 0, compute>>>(data, out, kCount);  // SECOND
    return finish({data, out}, {source});
}
