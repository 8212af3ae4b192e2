// Memory that a graph leaves allocated outlives the graph, and has to be freed.
#include "graphs/executable.hpp"
#include "graphs/memory.hpp"

int main() {
    Stream stream;
    float* memory = nullptr;
    {
        const Executable allocating(stream, [&] {
            CHECK(cudaMallocAsync(&memory, kBytes, stream));  // ALLOCATES
            USE(memory, stream);
        });
        CHECK(cudaGraphLaunch(allocating, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
#ifdef FIXED
    CHECK(cudaFree(memory));
#endif
    return finish();
}
