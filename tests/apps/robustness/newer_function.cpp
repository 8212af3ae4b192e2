// Looks up and calls a function that no CUDA toolkit knows; only the simulated device has it.
#include <cuda.h>
#include <dlfcn.h>

#include <cstring>

#include "app.hpp"

int main() {
    using Lookup =
        CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    const auto look_up = reinterpret_cast<Lookup>(dlsym(driver, "cuGetProcAddress_v2"));
    for (const char* name : {"cuSimgpuNewer", "cuSimgpuNewer", "cuMemAlloc", "cuNobodyHasThis"}) {
        void* function = nullptr;
        CUdriverProcAddressQueryResult status;
        look_up(name, &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
        CHECK(cudaFree(nullptr));
        if (std::strcmp(name, "cuSimgpuNewer") == 0 && function != nullptr) {
            reinterpret_cast<CUresult (*)()>(function)();
        }
    }
    std::puts("done");
    return 0;
}
