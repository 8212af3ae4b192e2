// Nor must stream-ordered memory be written after its free; a kernel that is given it is then the
// proven culprit.
#include "app.hpp"
#include "guard/bytes.hpp"

int main() {
    Stream stream;
    char *data, *other;
    CHECK(cudaMallocAsync(&data, 4096, stream));  // ALLOC
    CHECK(cudaMallocAsync(&other, 4096, stream));
#ifdef FIXED
    write_bytes<<<1, 64, 0, stream>>>(data, 0, 100);
    CHECK(cudaFreeAsync(data, stream));
#else
    CHECK(cudaFreeAsync(data, stream));               // FREE
    write_bytes<<<1, 64, 0, stream>>>(data, 0, 100);  // USE
#endif
    CHECK(cudaFreeAsync(other, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
