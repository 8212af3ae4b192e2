// The default stream of a thread is that of the context on top of its stack: two threads with the
// same context share it, and one that has pushed another context has another.
#include <thread>

#include "driver_app.hpp"

int main() {
    const CUcontext shared = create_context();
    CUdeviceptr data;
    void *from, *to;
    CHECK(cuMemAlloc(&data, kBytes));
    CHECK(cuMemHostAlloc(&from, kBytes, CU_MEMHOSTALLOC_PORTABLE));  // ALLOC
    CHECK(cuMemHostAlloc(&to, kBytes, CU_MEMHOSTALLOC_PORTABLE));
    const CUcontext other = create_context();
    CUdeviceptr source;
    CHECK(cuMemAlloc(&source, kBytes));
    CUcontext popped;
    CHECK(cuCtxPopCurrent(&popped));
    CHECK(cuCtxPopCurrent(&popped));

    std::thread([&] {
        CUcontext mine;
        CHECK(cuCtxPushCurrent(shared));
        CHECK(cuMemcpyHtoDAsync(data, from, kBytes, nullptr));  // FIRST
        CHECK(cuCtxPopCurrent(&mine));
    }).join();
    std::thread([&] {
        CUcontext mine;
        CHECK(cuCtxPushCurrent(shared));
        CHECK(cuMemcpyDtoHAsync(to, data, kBytes, nullptr));  // the same stream
#ifndef FIXED
        CHECK(cuCtxPushCurrent(other));
        CHECK(cuMemcpyDtoHAsync(from, source, kBytes, nullptr));  // SECOND
        CHECK(cuCtxSynchronize());
        CHECK(cuCtxPopCurrent(&mine));
#else
        CHECK(cuMemcpyDtoHAsync(from, data, kBytes, nullptr));
#endif
        CHECK(cuCtxSynchronize());
        CHECK(cuCtxPopCurrent(&mine));
    }).join();

    CHECK(cuCtxPushCurrent(shared));
    CHECK(cuMemFree(data));
    for (void* buffer : {from, to}) CHECK(cuMemFreeHost(buffer));
    CHECK(cuCtxPopCurrent(&popped));
    for (CUcontext context : {shared, other}) CHECK(cuCtxDestroy(context));
    std::puts("done");
    return 0;
}
