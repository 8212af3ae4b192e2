// Holds as many blocks at once as the argument says, then prints the process's memory in KiB.
#include <vector>

#include "app.hpp"
#include "robustness/resident_memory.hpp"

int main(int argc, char** argv) {
    std::vector<void*> blocks(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000);
    for (void*& block : blocks) CHECK(cudaMalloc(&block, 16));
    std::printf("%ld\n", resident_kib());
    for (void* block : blocks) CHECK(cudaFree(block));
    return 0;
}
