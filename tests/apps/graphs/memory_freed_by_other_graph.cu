// A graph may free what another has left allocated, when that is no longer in use.
#include "graphs/executable.hpp"
#include "graphs/memory.hpp"

int main() {
    Stream stream, using_it;
    float* memory = nullptr;
    const Executable allocating(stream, [&] { CHECK(cudaMallocAsync(&memory, kBytes, stream)); });
    const Executable freeing(stream, [&] {
        CHECK(cudaFreeAsync(memory, stream));  // FREE
    });

    CHECK(cudaGraphLaunch(allocating, stream));
    order(stream, using_it);
    USE(memory, using_it);  // USE
#ifdef FIXED
    order(using_it, stream);
#endif
    CHECK(cudaGraphLaunch(freeing, stream));
    CHECK(cudaDeviceSynchronize());
    return finish();
}
