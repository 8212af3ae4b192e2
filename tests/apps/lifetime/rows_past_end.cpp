// The last row of a pitched memset must end with its block, however wide the pitch.
#include "app.hpp"

int main() {
    constexpr std::size_t kPitch = 1024, kRows = 16;
    Stream stream;
    char* data;
    CHECK(cudaMalloc(&data, kPitch * kRows));  // ALLOC

#ifdef FIXED
    CHECK(cudaMemset2DAsync(data + 24, kPitch, 0, kPitch - 24, kRows, stream));
#else
    (void)cudaMemset2DAsync(data + 24, kPitch, 0, kPitch, kRows, stream);  // USE
    (void)cudaGetLastError();
#endif
    CHECK(cudaStreamSynchronize(stream));
    return finish({data});
}
