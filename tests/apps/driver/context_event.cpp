// An event recorded in a context covers what all its streams have been given by then, and a context
// that waits for an event makes all its streams wait.
#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUcontext context;
    CUstream first, second;
    CUevent reached;
    CUdeviceptr data, copy;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&reached, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC
    CHECK(cuMemAlloc(&copy, kBytes));
    CHECK(cuCtxSynchronize());

#ifndef FIXED
    CHECK(cuCtxRecordEvent(context, reached));
#endif
    CHECK(cuMemsetD32Async(data, 1, kCount, first));  // FIRST
#ifdef FIXED
    CHECK(cuCtxRecordEvent(context, reached));
#endif
    CHECK(cuCtxWaitEvent(context, reached));
    CHECK(cuMemcpyDtoDAsync(copy, data, kBytes, second));  // SECOND

    CHECK(cuCtxSynchronize());
    for (CUdeviceptr block : {data, copy}) CHECK(cuMemFree(block));
    for (CUstream stream : {first, second}) CHECK(cuStreamDestroy(stream));
    CHECK(cuEventDestroy(reached));
    std::puts("done");
    return 0;
}
