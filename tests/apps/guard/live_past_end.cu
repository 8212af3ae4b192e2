// What was written behind a block that is never freed is found at the end.
#include "app.hpp"
#include "guard/bytes.hpp"

int main() {
    constexpr int kSize = 1 << 16;
    char* data;
    CHECK(cudaMalloc(&data, kSize));  // ALLOC
#ifdef FIXED
    write_bytes<<<4, 64>>>(data, 0, kSize);
    return finish({data});
#else
    write_bytes<<<4, 64>>>(data, 0, kSize + 1);  // USE
    return finish();
#endif
}
