// Threads that find, initialize and use the driver all at once.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 8;
constexpr int kBlocks = 200;

template <typename Function>
Function look_up(void* driver, Function& function, const char* symbol) {
    return function = reinterpret_cast<Function>(dlsym(driver, symbol));
}

bool use_driver() {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    decltype(&::cuInit) init = nullptr;
    decltype(&::cuDevicePrimaryCtxRetain) retain = nullptr;
    decltype(&::cuCtxSetCurrent) set_current = nullptr;
    decltype(&::cuMemAlloc) alloc = nullptr;
    decltype(&::cuMemFree) free = nullptr;
    CUcontext context = nullptr;
    bool fine = look_up(driver, init, "cuInit")(0) == CUDA_SUCCESS &&
                look_up(driver, retain, "cuDevicePrimaryCtxRetain")(&context, 0) == CUDA_SUCCESS &&
                look_up(driver, set_current, "cuCtxSetCurrent")(context) == CUDA_SUCCESS;
    look_up(driver, alloc, "cuMemAlloc_v2");
    look_up(driver, free, "cuMemFree_v2");
    for (int i = 0; fine && i < kBlocks; ++i) {
        CUdeviceptr block = 0;
        fine = alloc(&block, 100) == CUDA_SUCCESS && free(block) == CUDA_SUCCESS;
    }
    return fine;
}

}  // namespace

int main() {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([] { std::puts(use_driver() ? "fine" : "failed"); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}
