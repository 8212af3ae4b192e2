// Prints which library gives the driver's functions, to this program and to a companion of the
// driver (the argument).
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace {

const char* provider(void* address) {
    Dl_info info;
    if (address == nullptr || dladdr(address, &info) == 0) {
        return "nobody";
    }
    const char* slash = std::strrchr(info.dli_fname, '/');
    return slash != nullptr ? slash + 1 : info.dli_fname;
}

void* ask_driver(void* get_proc_address, const char* base) {
    void* function = nullptr;
    reinterpret_cast<decltype(&::cuGetProcAddress)>(get_proc_address)(
        base, &function, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
    return function;
}

}  // namespace

int main(int, char** arguments) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    void* const companion = dlopen(arguments[1], RTLD_NOW);
    using LookUp = void (*)(void*, const char*, void**);
    auto* const looks_up = reinterpret_cast<LookUp>(dlsym(companion, "companion_looks_up"));
    auto* const asks_driver = reinterpret_cast<LookUp>(dlsym(companion, "companion_asks_driver"));
    void* const get_proc_address = dlsym(driver, "cuGetProcAddress_v2");

    std::printf("hooked: %s\n", provider(dlsym(driver, "cuMemAlloc_v2")));
    std::printf("hooked, default: %s\n", provider(dlsym(RTLD_DEFAULT, "cuMemAlloc_v2")));
    std::printf("hooked, asked: %s\n", provider(ask_driver(get_proc_address, "cuMemAlloc")));
    std::printf("asked for itself: %s\n",
                provider(ask_driver(get_proc_address, "cuGetProcAddress")));
    std::printf("not hooked: %s\n", provider(dlsym(driver, "cuMemcpy")));
    std::printf("not hooked, asked: %s\n", provider(ask_driver(get_proc_address, "cuMemcpy")));
    std::printf("unknown: %s\n", provider(dlsym(driver, "cuNoSuchFunction")));
    void* found = nullptr;
    looks_up(driver, "cuMemAlloc_v2", &found);
    std::printf("companion: %s\n", provider(found));
    looks_up(RTLD_DEFAULT, "cuMemAlloc_v2", &found);
    std::printf("companion, default: %s\n", provider(found));
    asks_driver(driver, "cuMemAlloc", &found);
    std::printf("companion, asked: %s\n", provider(found));
}
