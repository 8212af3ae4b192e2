// A library that bears the name of one of the driver's companions and looks functions up for
// itself.
#include <cuda.h>
#include <dlfcn.h>

extern "C" {

// Not by return value: the look-up must not become a jump, as the loader goes by who called it.
__attribute__((visibility("default"))) void companion_looks_up(void* handle, const char* symbol,
                                                               void** found) {
    *found = dlsym(handle, symbol);
}

__attribute__((visibility("default"))) void companion_asks_driver(void* handle, const char* base,
                                                                  void** found) {
    auto* const ask =
        reinterpret_cast<decltype(&::cuGetProcAddress)>(dlsym(handle, "cuGetProcAddress_v2"));
    ask(base, found, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
}

}  // extern "C"
