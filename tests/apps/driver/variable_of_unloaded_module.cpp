// A variable of a module lives as long as the module; nobody has to free it.
#include "driver_app.hpp"
#include "scale_image.hpp"

int main() {
    use_primary_context();
    CUmodule module, other;
    CUfunction scale;
    CUdeviceptr factors;
    CHECK(cuModuleLoadData(&module, scale_image));
    CHECK(cuModuleLoadData(&other, scale_image));
    CHECK(cuModuleGetFunction(&scale, other, "_Z5scalePfif"));
    CHECK(cuModuleGetGlobal(&factors, nullptr, module, "factors"));  // ALLOC

    int nothing = 0;
    float factor = 2.0F;
    void* parameters[] = {&factors, &nothing, &factor};
#ifdef FIXED
    CHECK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
    CHECK(cuModuleUnload(module));
#else
    CHECK(cuModuleUnload(module));                                                     // UNLOAD
    CHECK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));  // USE
#endif
    CHECK(cuCtxSynchronize());
    CHECK(cuModuleUnload(other));
    std::puts("done");
    return 0;
}
