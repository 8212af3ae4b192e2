// Each device has a budget of its own, or all of them share one.
#include <vector>

#include "app.hpp"

int main() {
    constexpr std::size_t kPiece = 1 << 20;
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    std::vector<void*> pieces;
    for (int device = 0; device < devices; ++device) {
        CHECK(cudaSetDevice(device));
        int got = 0;
        void* piece = nullptr;
        while (got < 100 && cudaMalloc(&piece, kPiece) == cudaSuccess) {
            pieces.push_back(piece);
            ++got;
        }
        (void)cudaGetLastError();
        std::printf("device %d: %d\n", device, got);
    }
    for (void* piece : pieces) CHECK(cudaFree(piece));
    return finish();
}
