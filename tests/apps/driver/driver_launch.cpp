// A kernel from a module loaded at run time, launched by the driver API, is an access like any
// other.
#include "driver_app.hpp"
#include "scale_image.hpp"

int main() {
    use_primary_context();
    CUmodule module;
    CUfunction scale;
    CHECK(cuModuleLoadData(&module, scale_image));
    CHECK(cuModuleGetFunction(&scale, module, "_Z5scalePfif"));
    CUstream first, second;
    CUdeviceptr data;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC
    CHECK(cuMemsetD32(data, 0, kCount));
    CHECK(cuCtxSynchronize());

    int count = kCount;
    float factor = 2;
    void* args[] = {&data, &count, &factor};
    const unsigned threads = 256, grid = kCount / threads;
    CHECK(cuLaunchKernel(scale, grid, 1, 1, threads, 1, 1, 0, first, args, nullptr));  // FIRST
#ifdef FIXED
    CHECK(cuStreamSynchronize(first));
#endif
    CHECK(cuLaunchKernel(scale, grid, 1, 1, threads, 1, 1, 0, second, args, nullptr));  // SECOND

    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(data));
    CHECK(cuStreamDestroy(first));
    CHECK(cuStreamDestroy(second));
    CHECK(cuModuleUnload(module));
    std::puts("done");
    return 0;
}
