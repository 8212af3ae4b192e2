// A kernel must not write behind stream-ordered memory either.
#include "app.hpp"
#include "guard/bytes.hpp"

int main() {
    constexpr int kSize = 1000;
    Stream stream;
    char* data;
    CHECK(cudaMallocAsync(&data, kSize, stream));  // ALLOC
#ifdef FIXED
    write_bytes<<<1, 64, 0, stream>>>(data, 0, kSize);
#else
    write_bytes<<<1, 64, 0, stream>>>(data, 0, kSize + 8);  // USE
#endif
    CHECK(cudaFreeAsync(data, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
