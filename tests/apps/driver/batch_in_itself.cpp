// The copies of one batch have no order: none may read what another writes.
#include "batch.hpp"

int main() {
    use_primary_context();
    CUstream stream;
    std::array<CUdeviceptr, 4> blocks;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (CUdeviceptr& block : blocks) CHECK(cuMemAlloc(&block, kBytes));  // ALLOC

    std::array<CUdeviceptr, 2> sources{blocks[0], blocks[1]};
#ifdef FIXED
    std::array<CUdeviceptr, 2> targets{blocks[2], blocks[3]};
#else
    std::array<CUdeviceptr, 2> targets{blocks[1], blocks[3]};
#endif
    CHECK(COPY_BOTH(targets, sources, stream));  // BATCH

    CHECK(cuCtxSynchronize());
    for (const CUdeviceptr block : blocks) CHECK(cuMemFree(block));
    CHECK(cuStreamDestroy(stream));
    std::puts("done");
    return 0;
}
