// A context that is destroyed takes its blocks along: they are no leak. One that lives on leaks
// them.
#include "driver_app.hpp"

int main() {
    CUdevice device;
    CUcontext context;
    CUdeviceptr data;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&context, nullptr, 0, device));
#else
    CHECK(cuCtxCreate(&context, 0, device));
#endif
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC
    CHECK(cuMemsetD32(data, 0, kCount));
    CHECK(cuCtxSynchronize());
#ifdef FIXED
    CHECK(cuCtxDestroy(context));
#endif
    std::puts("done");
    return 0;
}
