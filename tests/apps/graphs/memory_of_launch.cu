// Memory that a graph leaves allocated is there for what comes after its launch, until it is freed.
#include "graphs/executable.hpp"
#include "graphs/memory.hpp"

int main() {
    Stream launching, using_it;
    float* memory = nullptr;
    const Executable allocating(launching, [&] {
        CHECK(cudaMallocAsync(&memory, kBytes, launching));  // ALLOCATES
    });

    for (int step = 0; step < 2; ++step) {
        CHECK(cudaGraphLaunch(allocating, launching));
#ifdef FIXED
        order(launching, using_it);
#endif
        USE(memory, using_it);  // USE
        CHECK(cudaStreamSynchronize(launching));
        CHECK(cudaFreeAsync(memory, using_it));
        CHECK(cudaStreamSynchronize(using_it));
    }
    return finish();
}
