#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "runtime.hpp"

namespace simrt {
namespace {

struct Loaded {
    Driver legacy{};
    Driver per_thread{};
    decltype(&::cuGetProcAddress_v2) look_up = nullptr;
    CUcontext (*current)() = nullptr;
    bool usable = false;
};

template <class Function>
void look_up(const Loaded& loaded, const char* name, int version, cuuint64_t flags,
             Function& function) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    loaded.look_up(name, &address, version, flags, &status);
    function = reinterpret_cast<Function>(address);
}

void fill(const Loaded& loaded, Driver& driver, bool per_thread) {
    const cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                        : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    driver.per_thread = per_thread;
#define SIMRT_DRIVER_FUNCTION(base, suffix, version) \
    look_up(loaded, #base, version, flags, driver.base);
#include "driver_functions.inc"
#undef SIMRT_DRIVER_FUNCTION
}

Loaded* load() {
    auto* loaded = new Loaded;
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) {
        return loaded;
    }
    loaded->look_up =
        reinterpret_cast<decltype(loaded->look_up)>(dlsym(library, "cuGetProcAddress_v2"));
    if (loaded->look_up == nullptr) {
        return loaded;
    }
    // The real runtime asks the driver for the current context through a private table, so no
    // public function is seen to be called.
    loaded->current = reinterpret_cast<CUcontext (*)()>(dlsym(library, "simgpuCurrentContext"));
    fill(*loaded, loaded->legacy, false);
    fill(*loaded, loaded->per_thread, true);
    loaded->usable = loaded->legacy.cuInit != nullptr && loaded->legacy.cuInit(0) == CUDA_SUCCESS &&
                     loaded->current != nullptr;
    return loaded;
}

// Never destroyed: programs call CUDA from their last destructors.
Loaded& loaded() {
    static Loaded& instance = *load();
    return instance;
}

CUcontext context_of_thread() {
    const auto current = loaded().current;
    return current != nullptr ? current() : nullptr;
}

struct Device {
    std::mutex mutex;
    CUcontext context = nullptr;
};

Device& device_state(int device) {
    static std::mutex& mutex = *new std::mutex;
    static std::vector<Device*>& devices = *new std::vector<Device*>;
    const std::lock_guard lock(mutex);
    while (devices.size() <= static_cast<size_t>(device)) {
        devices.push_back(new Device);
    }
    return *devices[static_cast<size_t>(device)];
}

std::atomic<uint32_t> reset_count{1};

thread_local int thread_device = 0;
// What this thread was last set up with; a reset anywhere makes it look again.
thread_local CUcontext thread_context = nullptr;
thread_local uint32_t thread_resets = 0;
thread_local cudaError_t thread_error = cudaSuccess;

cudaError_t primary(const Driver& driver, int device, CUcontext& context) {
    Device& state = device_state(device);
    const std::lock_guard lock(state.mutex);
    if (state.context == nullptr) {
        SIMRT_TRY(from(driver.cuDevicePrimaryCtxRetain(&state.context, device)));
    }
    context = state.context;
    return cudaSuccess;
}

}  // namespace

const Driver* driver(bool per_thread) {
    Loaded& all = loaded();
    return all.usable ? (per_thread ? &all.per_thread : &all.legacy) : nullptr;
}

decltype(&::cuGetProcAddress_v2) proc_address() {
    return loaded().look_up;
}

cudaError_t use_context(const Driver& driver) {
    const CUcontext current = context_of_thread();
    const uint32_t resets = reset_count.load(std::memory_order_acquire);
    if (current != nullptr && (current != thread_context || resets == thread_resets)) {
        return cudaSuccess;
    }
    CUcontext context = nullptr;
    SIMRT_TRY(primary(driver, thread_device, context));
    SIMRT_TRY(from(driver.cuCtxSetCurrent(context)));
    thread_context = context;
    thread_resets = resets;
    return cudaSuccess;
}

int current_device() {
    CUdevice device = thread_device;
    const CUcontext current = context_of_thread();
    if (current != nullptr && current != thread_context) {
        loaded().legacy.cuCtxGetDevice(&device);
    }
    return device;
}

void set_current_device(int device) {
    thread_device = device;
    thread_context = context_of_thread();
    thread_resets = 0;  // another device's context is to be made current
}

void forget_contexts() {
    Device& state = device_state(thread_device);
    const std::lock_guard lock(state.mutex);
    state.context = nullptr;
    reset_count.fetch_add(1, std::memory_order_acq_rel);
}

cudaError_t remember(cudaError_t error) {
    if (error != cudaSuccess) {
        thread_error = error;
    }
    return error;
}

cudaError_t last_error(bool clear) {
    const cudaError_t error = thread_error;
    if (clear) {
        thread_error = cudaSuccess;
    }
    return error;
}

}  // namespace simrt
