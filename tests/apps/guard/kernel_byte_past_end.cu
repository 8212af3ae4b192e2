// A kernel must not write the byte behind its block.
#include "app.hpp"
#include "guard/bytes.hpp"

int main() {
    constexpr int kSize = 1001;
    char* data;
    CHECK(cudaMalloc(&data, kSize));  // ALLOC
#ifdef FIXED
    write_bytes<<<1, 64>>>(data, 0, kSize);
#else
    write_bytes<<<1, 64>>>(data, 0, kSize + 1);  // USE
#endif
    return finish({data});
}
