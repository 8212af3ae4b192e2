// Loading a module waits for its context in practice only.
#include "driver_app.hpp"
#include "scale_image.hpp"

int main() {
    use_primary_context();
    CUmodule module;
    CUstream first, second;
    CUdeviceptr data;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC

    CHECK(cuMemsetD32Async(data, 1, kCount, first));  // FIRST
    CHECK(cuModuleLoadData(&module, scale_image));
#ifdef FIXED
    CHECK(cuStreamSynchronize(first));
#endif
    CHECK(cuMemsetD32Async(data, 2, kCount, second));  // SECOND

    CHECK(cuCtxSynchronize());
    CHECK(cuModuleUnload(module));
    CHECK(cuMemFree(data));
    CHECK(cuStreamDestroy(first));
    CHECK(cuStreamDestroy(second));
    std::puts("done");
    return 0;
}
