// What a budget has no room for fails as on a full device, and the program goes on.
#include <vector>

#include "app.hpp"

int main() {
    constexpr std::size_t kPiece = 8 << 20;
    std::vector<void*> kept;
    int refused = 0;
    for (int i = 0; i < 8; ++i) {
        void* piece = nullptr;
        const cudaError_t result = cudaMalloc(&piece, kPiece);  // PIECE
        if (result == cudaErrorMemoryAllocation) {
            refused += cudaGetLastError() == cudaErrorMemoryAllocation;
            continue;
        }
        CHECK(result);
        CHECK(cudaMemset(piece, 0, kPiece));
#ifdef FIXED
        CHECK(cudaFree(piece));
#else
        kept.push_back(piece);
#endif
    }
    for (void* piece : kept) CHECK(cudaFree(piece));
    std::printf("%d refused\n", refused);
    return finish();
}
