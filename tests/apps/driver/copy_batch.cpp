// Every copy of a batch reads and writes its bytes, the last one too.
#include "batch.hpp"

int main() {
    use_primary_context();
    CUstream copying, setting;
    CUevent copied;
    std::array<CUdeviceptr, 2> sources, targets;
    CHECK(cuStreamCreate(&copying, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&setting, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&copied, CU_EVENT_DISABLE_TIMING));
    for (CUdeviceptr& source : sources) CHECK(cuMemAlloc(&source, kBytes));
    for (CUdeviceptr& target : targets) CHECK(cuMemAlloc(&target, kBytes));  // ALLOC

    CHECK(COPY_BOTH(targets, sources, copying));  // FIRST
    CHECK(cuEventRecord(copied, copying));
#ifdef FIXED
    CHECK(cuStreamWaitEvent(setting, copied, 0));
#endif
    CHECK(cuMemsetD32Async(targets[1], 1, kCount, setting));  // SECOND

    CHECK(cuCtxSynchronize());
    for (const CUdeviceptr source : sources) CHECK(cuMemFree(source));
    for (const CUdeviceptr target : targets) CHECK(cuMemFree(target));
    CHECK(cuEventDestroy(copied));
    CHECK(cuStreamDestroy(copying));
    CHECK(cuStreamDestroy(setting));
    std::puts("done");
    return 0;
}
