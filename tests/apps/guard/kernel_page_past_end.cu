// A kernel must not write 4 KiB more than its block has.
#include "app.hpp"
#include "guard/bytes.hpp"

int main() {
    constexpr int kSize = 1 << 16;
    char *data, *other;
    CHECK(cudaMalloc(&data, kSize));  // ALLOC
    CHECK(cudaMalloc(&other, kSize));
    write_bytes<<<4, 64>>>(other, 0, kSize);
    CHECK(cudaDeviceSynchronize());
#ifdef FIXED
    write_bytes<<<4, 64>>>(data, 0, kSize);
#else
    write_bytes<<<4, 64>>>(data, 0, kSize + 4096);  // USE
#endif
    return finish({data, other});
}
