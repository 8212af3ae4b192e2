// One place of a graph that fills several blocks. They may lie side by side in memory, and are
// still filled each by itself.
#include "app.hpp"
#include "graphs/executable.hpp"

int main() {
    constexpr int kBlocks = 8;
    constexpr std::size_t kSmall = 8192;
    Stream stream;
    void* blocks[kBlocks];
    for (void*& block : blocks) CHECK(cudaMalloc(&block, kSmall));
    const Executable filling(stream, [&] {
        for (void* block : blocks) CHECK(cudaMemsetAsync(block, 1, kSmall, stream));
    });
    CHECK(cudaGraphLaunch(filling, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (void* block : blocks) CHECK(cudaFree(block));
    return finish();
}
