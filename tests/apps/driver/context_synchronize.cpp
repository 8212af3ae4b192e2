// cuCtxSynchronize waits for the streams of the current context, not for those of another.
#include "driver_app.hpp"

int main() {
    const CUcontext other = create_context();
    const CUcontext working = create_context();
    CUstream first, second;
    CUdeviceptr data;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC

    CHECK(cuMemsetD32Async(data, 1, kCount, first));  // FIRST
#ifdef FIXED
    CHECK(cuCtxSetCurrent(working));
#else
    CHECK(cuCtxSetCurrent(other));
#endif
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxSetCurrent(working));
    CHECK(cuMemsetD32Async(data, 2, kCount, second));  // SECOND

    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(data));
    CHECK(cuStreamDestroy(first));
    CHECK(cuStreamDestroy(second));
    CHECK(cuCtxDestroy(working));
    CHECK(cuCtxDestroy(other));
    std::puts("done");
    return 0;
}
