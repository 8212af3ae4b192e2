// A kernel must not write before its block.
#include "app.hpp"
#include "guard/bytes.hpp"

int main() {
    constexpr int kSize = 1 << 16;
    char *before, *data;
    CHECK(cudaMalloc(&before, kSize));
    CHECK(cudaMalloc(&data, kSize));  // ALLOC
#ifdef FIXED
    write_bytes<<<4, 64>>>(data, 0, kSize);
#else
    write_bytes<<<4, 64>>>(data, -4, kSize);  // USE
#endif
    return finish({before, data});
}
