// Addresses lead nowhere after they were unmapped, even if the physical memory lives on.
#include "mapped.hpp"
#include "scale_image.hpp"

int main() {
    use_primary_context();
    CUmodule module;
    CUfunction scale;
    CHECK(cuModuleLoadData(&module, scale_image));
    CHECK(cuModuleGetFunction(&scale, module, "_Z5scalePfif"));
    const std::size_t bytes = granularity();
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle memory;
    CHECK(cuMemCreate(&memory, bytes, &properties, 0));  // ALLOC
    CUdeviceptr data = reserve(bytes);
    map(data, memory, bytes);

    int nothing = 0;
    float factor = 2.0F;
    void* parameters[] = {&data, &nothing, &factor};
#ifdef FIXED
    CHECK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemUnmap(data, bytes));
#else
    CHECK(cuMemUnmap(data, bytes));                                                    // FREE
    CHECK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));  // USE
    CHECK(cuCtxSynchronize());
#endif
    CHECK(cuMemAddressFree(data, bytes));
    CHECK(cuMemRelease(memory));
    CHECK(cuModuleUnload(module));
    std::puts("done");
    return 0;
}
