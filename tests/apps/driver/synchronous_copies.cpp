// Where CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set, a copy that does not wait otherwise has been made
// when it returns.
#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUstream stream;
    CUdeviceptr source, target;
    std::size_t pitch;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAllocPitch(&source, &pitch, 512, kBytes / 512, 4));
    CHECK(cuMemAllocPitch(&target, &pitch, 512, kBytes / 512, 4));  // ALLOC
#ifdef FIXED
    const unsigned synchronous = 1;
    CHECK(cuPointerSetAttribute(&synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, target));
#endif
    CHECK(cuMemcpyDtoD(target, source, kBytes));        // FIRST
    CHECK(cuMemsetD8Async(target, 1, kBytes, stream));  // SECOND
    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(source));
    CHECK(cuMemFree(target));
    CHECK(cuStreamDestroy(stream));
    std::puts("done");
    return 0;
}
