// A stream may wait for a value before the write is queued; what follows the write on the writer's
// stream is not waited for, and does not wait.
#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUstream writer, reader;
    CUdeviceptr data, copy, flag;
    CHECK(cuStreamCreate(&writer, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&reader, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC
    CHECK(cuMemAlloc(&copy, kBytes));
    CHECK(cuMemAlloc(&flag, sizeof(cuuint32_t)));
    CHECK(cuMemsetD32(flag, 0, 1));
    CHECK(cuCtxSynchronize());

    CHECK(cuStreamWaitValue32(reader, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuMemcpyDtoDAsync(copy, data, kBytes, reader));  // FIRST
    CHECK(cuMemsetD32Async(data, 1, kCount, writer));
    CHECK(cuStreamWriteValue32(writer, flag, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
#ifdef FIXED
    CHECK(cuStreamSynchronize(reader));
#endif
    CHECK(cuMemsetD32Async(data, 2, kCount, writer));  // SECOND

    CHECK(cuCtxSynchronize());
    for (CUdeviceptr block : {data, copy, flag}) CHECK(cuMemFree(block));
    for (CUstream stream : {writer, reader}) CHECK(cuStreamDestroy(stream));
    std::puts("done");
    return 0;
}
