// A copy that the driver lets pass, as guarded blocks have room behind them, is found all the same,
// once.
#include "app.hpp"
#include "guard/bytes.hpp"

int main() {
    constexpr int kSize = 1 << 16;
    char *data, *source;
    CHECK(cudaMalloc(&data, kSize));  // ALLOC
    CHECK(cudaMallocHost(&source, 2 * kSize));
#ifdef FIXED
    CHECK(cudaMemcpy(data, source, kSize, cudaMemcpyHostToDevice));
#else
    (void)cudaMemcpy(data, source, kSize + 4096, cudaMemcpyHostToDevice);  // USE
    (void)cudaGetLastError();
#endif
    write_bytes<<<4, 64>>>(data, 0, kSize);
    return finish({data}, {source});
}
