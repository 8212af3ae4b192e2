// Device memory of every kind counts against a budget until it is freed.
#include <functional>
#include <vector>

#include "app.hpp"

constexpr std::size_t kMost = 100;  // of each kind, should there be no limit
constexpr std::size_t kPiece = 1 << 20;

using Allocate = std::function<cudaError_t(void*&)>;
using Free = std::function<cudaError_t(void*)>;

std::size_t allocate_until_refused(const Allocate& allocate, std::vector<void*>& pieces) {
    while (pieces.size() < kMost) {
        void* piece = nullptr;
        const cudaError_t result = allocate(piece);
        if (result == cudaErrorMemoryAllocation) {
            (void)cudaGetLastError();
            break;
        }
        CHECK(result);
        pieces.push_back(piece);
    }
    return pieces.size();
}

// Twice, as what has been freed has room again.
void show(const char* kind, const Allocate& allocate, const Free& free) {
    std::printf("%s:", kind);
    for (int round = 0; round < 2; ++round) {
        std::vector<void*> pieces;
        std::printf(" %zu", allocate_until_refused(allocate, pieces));
        for (void* piece : pieces) CHECK(free(piece));
        CHECK(cudaDeviceSynchronize());
    }
    std::puts("");
}

int main() {
    Stream stream;
    cudaMemPool_t pool;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPoolCreate(&pool, &properties));
    const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
    const auto free_on_stream = [&](void* piece) { return cudaFreeAsync(piece, stream); };

    show(
        "plain", [](void*& piece) { return cudaMalloc(&piece, kPiece); }, cudaFree);
    show(
        "managed", [](void*& piece) { return cudaMallocManaged(&piece, kPiece); }, cudaFree);
    show(
        "pitched",  // of 1000 bytes a row, for which 1024 are taken
        [](void*& piece) {
            std::size_t pitch;
            return cudaMallocPitch(&piece, &pitch, 1000, 1024);
        },
        cudaFree);
    show(
        "ordered", [&](void*& piece) { return cudaMallocAsync(&piece, kPiece, stream); },
        free_on_stream);
    show(
        "from a pool",
        [&](void*& piece) { return cudaMallocFromPoolAsync(&piece, kPiece, pool, stream); },
        free_on_stream);
    show(
        "array",
        [&](void*& piece) {
            return cudaMallocArray(reinterpret_cast<cudaArray_t*>(&piece), &format, 512, 512);
        },
        [](void* piece) { return cudaFreeArray(static_cast<cudaArray_t>(piece)); });
    CHECK(cudaMemPoolDestroy(pool));
    return finish();
}
