// A stream that waits for a value comes after the work before the write of that value, and after
// nothing else.
#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUstream first, second;
    CUdeviceptr data, copy, flag;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC
    CHECK(cuMemAlloc(&copy, kBytes));
    CHECK(cuMemAlloc(&flag, sizeof(cuuint32_t)));
    CHECK(cuMemsetD32(flag, 0, 1));
    CHECK(cuCtxSynchronize());

#ifndef FIXED
    CHECK(cuStreamWriteValue32(first, flag, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
#endif
    CHECK(cuMemsetD32Async(data, 1, kCount, first));  // FIRST
#ifdef FIXED
    CHECK(cuStreamWriteValue32(first, flag, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
#endif
    CHECK(cuStreamWaitValue32(second, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    CHECK(cuMemcpyDtoDAsync(copy, data, kBytes, second));  // SECOND

    CHECK(cuCtxSynchronize());
    for (CUdeviceptr block : {data, copy, flag}) CHECK(cuMemFree(block));
    for (CUstream stream : {first, second}) CHECK(cuStreamDestroy(stream));
    std::puts("done");
    return 0;
}
