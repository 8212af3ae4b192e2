// The driver API is watched like the runtime: two unordered memsets of the same words race.
#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUstream first, second;
    CUevent done;
    CUdeviceptr data;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC

    CHECK(cuMemsetD32Async(data, 1, kCount, first));  // FIRST
    CHECK(cuEventRecord(done, first));
#ifdef FIXED
    CHECK(cuStreamWaitEvent(second, done, 0));
#endif
    CHECK(cuMemsetD32Async(data, 2, kCount, second));  // SECOND

    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(data));
    CHECK(cuEventDestroy(done));
    CHECK(cuStreamDestroy(first));
    CHECK(cuStreamDestroy(second));
    std::puts("done");
    return 0;
}
