// Attaching managed memory is an operation of its stream, and no wait for what others do with it.
#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUstream first, second;
    CUevent attached;
    CUdeviceptr data, copy;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&attached, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemAllocManaged(&data, kBytes, CU_MEM_ATTACH_GLOBAL));  // ALLOC
    CHECK(cuMemAlloc(&copy, kBytes));
    CHECK(cuCtxSynchronize());

    CHECK(cuMemsetD32Async(data, 1, kCount, first));  // FIRST
#ifdef FIXED
    CHECK(cuStreamAttachMemAsync(first, data, 0, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuEventRecord(attached, first));
    CHECK(cuStreamWaitEvent(second, attached, 0));
#else
    CHECK(cuStreamAttachMemAsync(second, data, 0, CU_MEM_ATTACH_GLOBAL));
#endif
    CHECK(cuMemcpyDtoDAsync(copy, data, kBytes, second));  // SECOND

    CHECK(cuCtxSynchronize());
    for (CUdeviceptr block : {data, copy}) CHECK(cuMemFree(block));
    for (CUstream stream : {first, second}) CHECK(cuStreamDestroy(stream));
    CHECK(cuEventDestroy(attached));
    std::puts("done");
    return 0;
}
