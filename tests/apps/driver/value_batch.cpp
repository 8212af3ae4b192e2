// A batch of memory operations waits for the writers of the values that it names.
#include "driver_app.hpp"

namespace {

CUstreamBatchMemOpParams wait_for(CUdeviceptr flag, cuuint64_t value) {
    CUstreamBatchMemOpParams wait{};
    wait.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    wait.waitValue.address = flag;
    wait.waitValue.value64 = value;
    wait.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    return wait;
}

}  // namespace

int main() {
    use_primary_context();
    CUstream writers[2], reader;
    CUdeviceptr data, copy, flags;
    for (CUstream& writer : writers) CHECK(cuStreamCreate(&writer, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&reader, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&data, 2 * kBytes));  // ALLOC
    CHECK(cuMemAlloc(&copy, 2 * kBytes));
    CHECK(cuMemAlloc(&flags, 2 * sizeof(cuuint64_t)));
    CHECK(cuMemsetD8(flags, 0, 2 * sizeof(cuuint64_t)));
    CHECK(cuCtxSynchronize());

    for (int i = 0; i < 2; ++i) {
        CHECK(cuMemsetD32Async(data + i * kBytes, 1, kCount, writers[i]));  // FIRST
        CHECK(cuStreamWriteValue64(writers[i], flags + i * sizeof(cuuint64_t), 5,
                                   CU_STREAM_WRITE_VALUE_DEFAULT));
    }
#ifdef FIXED
    constexpr unsigned kAwaited = 2;
#else
    constexpr unsigned kAwaited = 1;
#endif
    CUstreamBatchMemOpParams batch[] = {wait_for(flags, 5),
                                        wait_for(flags + sizeof(cuuint64_t), 4)};
    CHECK(cuStreamBatchMemOp(reader, kAwaited, batch, 0));
    CHECK(cuMemcpyDtoDAsync(copy, data, 2 * kBytes, reader));  // SECOND

    CHECK(cuCtxSynchronize());
    for (CUdeviceptr block : {data, copy, flags}) CHECK(cuMemFree(block));
    for (CUstream stream : {writers[0], writers[1], reader}) CHECK(cuStreamDestroy(stream));
    std::puts("done");
    return 0;
}
