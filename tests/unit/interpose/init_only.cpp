// Initializes the driver and stops using it.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>

int main() {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto* const init = reinterpret_cast<decltype(&::cuInit)>(dlsym(driver, "cuInit"));
    std::printf("wrong flags: %d\n", init(1));
    std::printf("init: %d\n", init(0));
    dlclose(driver);
    std::printf("again: %d\n", init(0));
}
