// Each context has a legacy stream of its own: those of two contexts are not ordered. Events are
// waited for across contexts.
#include "driver_app.hpp"

int main() {
    CUdeviceptr from, to;
    CUevent downloaded;
    void* buffer;
    const CUcontext second = create_context();
    CHECK(cuMemAlloc(&to, kBytes));
    const CUcontext first = create_context();
    CHECK(cuMemAlloc(&from, kBytes));
    CHECK(cuEventCreate(&downloaded, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemHostAlloc(&buffer, kBytes, CU_MEMHOSTALLOC_PORTABLE));  // ALLOC

    CHECK(cuMemcpyDtoHAsync(buffer, from, kBytes, CU_STREAM_LEGACY));  // FIRST
    CHECK(cuEventRecord(downloaded, CU_STREAM_LEGACY));
    CHECK(cuCtxSetCurrent(second));
#ifdef FIXED
    CHECK(cuStreamWaitEvent(CU_STREAM_LEGACY, downloaded, 0));
#endif
    CHECK(cuMemcpyHtoDAsync(to, buffer, kBytes, CU_STREAM_LEGACY));  // SECOND

    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(to));
    CHECK(cuCtxSetCurrent(first));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(from));
    CHECK(cuMemFreeHost(buffer));
    CHECK(cuEventDestroy(downloaded));
    CHECK(cuCtxDestroy(first));
    CHECK(cuCtxDestroy(second));
    std::puts("done");
    return 0;
}
