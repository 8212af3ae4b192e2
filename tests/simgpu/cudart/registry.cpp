#include "registry.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "../handle.hpp"
#include "../twin.hpp"

namespace simrt {
namespace {

struct Managed {
    void** pointer;
    std::string name;
};

struct FatBinary {
    const void* wrapper = nullptr;
    CUlibrary library = nullptr;
    std::vector<Managed> managed;
    bool managed_placed = false;
};

struct Entry {
    FatBinary* binary = nullptr;
    std::string name;
    CUkernel kernel = nullptr;
};

struct Registry {
    std::shared_mutex mutex;
    std::unordered_map<const void*, Entry> functions;
    std::unordered_map<const void*, Entry> variables;
    std::unordered_map<const void*, simgpu::Twin> twins;
};

Registry& registry() {
    static Registry& instance = *new Registry;
    return instance;
}

void hand_over_twin(const char* kernel, simgpu::Twin twin) {
    using Set = void (*)(const char*, simgpu::Twin);
    static const Set set = [] {
        void* driver_library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        return driver_library != nullptr
                   ? reinterpret_cast<Set>(dlsym(driver_library, "simgpuSetTwin"))
                   : nullptr;
    }();
    if (set != nullptr) {
        set(kernel, twin);
    }
}

cudaError_t load(const Driver& driver, FatBinary& binary) {
    if (binary.library != nullptr) {
        return cudaSuccess;
    }
    // Twins must be known before the driver makes handles for the kernels.
    for (const auto& [function, entry] : registry().functions) {
        const auto twin = registry().twins.find(function);
        if (entry.binary == &binary && twin != registry().twins.end()) {
            hand_over_twin(entry.name.c_str(), twin->second);
        }
    }
    return from(driver.cuLibraryLoadData(&binary.library, binary.wrapper, nullptr, nullptr, 0,
                                         nullptr, nullptr, 0));
}

cudaError_t place_managed(const Driver& driver, FatBinary& binary) {
    if (binary.managed_placed) {
        return cudaSuccess;
    }
    binary.managed_placed = true;
    for (const Managed& variable : binary.managed) {
        CUdeviceptr address = 0;
        SIMRT_TRY(from(
            driver.cuLibraryGetGlobal(&address, nullptr, binary.library, variable.name.c_str())));
        *variable.pointer = reinterpret_cast<void*>(address);
    }
    return cudaSuccess;
}

}  // namespace

cudaError_t kernel_of(const Driver& driver, const void* host_function, CUkernel& kernel) {
    {
        const std::shared_lock lock(registry().mutex);
        const auto it = registry().functions.find(host_function);
        if (it == registry().functions.end()) {
            return cudaErrorInvalidDeviceFunction;
        }
        kernel = it->second.kernel;
    }
    if (kernel != nullptr) {
        return cudaSuccess;
    }
    const std::unique_lock lock(registry().mutex);
    Entry& entry = registry().functions[host_function];
    if (entry.kernel == nullptr) {
        SIMRT_TRY(load(driver, *entry.binary));
        SIMRT_TRY(from(
            driver.cuLibraryGetKernel(&entry.kernel, entry.binary->library, entry.name.c_str())));
    }
    kernel = entry.kernel;
    return cudaSuccess;
}

cudaError_t symbol_of(const Driver& driver, const void* host_variable, Symbol& symbol) {
    const std::unique_lock lock(registry().mutex);
    const auto it = registry().variables.find(host_variable);
    if (it == registry().variables.end()) {
        return cudaErrorInvalidSymbol;
    }
    SIMRT_TRY(load(driver, *it->second.binary));
    return from(driver.cuLibraryGetGlobal(&symbol.address, &symbol.size, it->second.binary->library,
                                          it->second.name.c_str()));
}

}  // namespace simrt

using simrt::FatBinary;
using simrt::registry;

SIMRT_EXPORT void** CUDARTAPI __cudaRegisterFatBinary(void* wrapper) {
    auto* binary = simgpu::new_handle<FatBinary>();
    binary->wrapper = wrapper;
    return reinterpret_cast<void**>(binary);
}

SIMRT_EXPORT void CUDARTAPI __cudaRegisterFatBinaryEnd(void**) {}

// Left alone at exit: the driver is going away by itself, and other destructors may still launch.
SIMRT_EXPORT void CUDARTAPI __cudaUnregisterFatBinary(void**) {}

SIMRT_EXPORT void CUDARTAPI __cudaRegisterFunction(void** handle, const char* host_function, char*,
                                                   const char* name, int, uint3*, uint3*, dim3*,
                                                   dim3*, int*) {
    const std::unique_lock lock(registry().mutex);
    registry().functions[host_function] = {reinterpret_cast<FatBinary*>(handle), name, nullptr};
}

SIMRT_EXPORT void CUDARTAPI __cudaRegisterVar(void** handle, char* host_variable, char*,
                                              const char* name, int, size_t, int, int) {
    const std::unique_lock lock(registry().mutex);
    registry().variables[host_variable] = {reinterpret_cast<FatBinary*>(handle), name, nullptr};
}

SIMRT_EXPORT void CUDARTAPI __cudaRegisterManagedVar(void** handle, void** pointer, char*,
                                                     const char* name, int, size_t, int, int) {
    const std::unique_lock lock(registry().mutex);
    auto* binary = reinterpret_cast<FatBinary*>(handle);
    binary->managed.push_back({pointer, name});
    registry().variables[pointer] = {binary, name, nullptr};
}

SIMRT_EXPORT char CUDARTAPI __cudaInitModule(void** handle) {
    auto* binary = reinterpret_cast<FatBinary*>(handle);
    const cudaError_t error = simrt::run(false, simrt::Needs::Context, [&](const simrt::Driver& d) {
        const std::unique_lock lock(registry().mutex);
        SIMRT_TRY(load(d, *binary));
        return place_managed(d, *binary);
    });
    return error == cudaSuccess ? 1 : 0;
}

SIMRT_EXPORT cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    return simrt::run(false, simrt::Needs::Driver, [&](const simrt::Driver& d) {
        CUkernel found = nullptr;
        SIMRT_TRY(simrt::kernel_of(d, function, found));
        *kernel = reinterpret_cast<cudaKernel_t>(found);
        return cudaSuccess;
    });
}

// SIMGPU_TWIN in a program finds this one.
SIMRT_EXPORT void simgpuRegisterTwin(const void* host_function, simgpu::Twin twin) {
    const std::unique_lock lock(registry().mutex);
    registry().twins[host_function] = twin;
}
