#include <dlfcn.h>

#include <map>
#include <mutex>

#include "api.hpp"
#include "config.hpp"
#include "module.hpp"

namespace simgpu {
namespace {

struct Twins {
    std::mutex mutex;
    std::map<std::string, Twin> named;
    std::map<std::string, void*> libraries;
};

Twins& twins() {
    static Twins& instance = *new Twins;
    return instance;
}

Twin symbol(void* scope, const std::string& name) {
    return reinterpret_cast<Twin>(dlsym(scope, name.c_str()));
}

}  // namespace

void set_twin(const char* kernel, Twin twin) {
    const std::lock_guard lock(twins().mutex);
    twins().named[kernel] = twin;
}

Twin find_twin(const std::string& kernel) {
    const std::lock_guard lock(twins().mutex);
    if (const auto it = twins().named.find(kernel); it != twins().named.end()) {
        return it->second;
    }
    const std::string name = "simgpu_twin_" + kernel;
    Twin twin = symbol(RTLD_DEFAULT, name);
    for (const std::string& path : config().twin_libraries) {
        if (twin != nullptr) {
            break;
        }
        void*& library = twins().libraries[path];
        if (library == nullptr) {
            library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        }
        if (library != nullptr) {
            twin = symbol(library, name);
        }
    }
    return twin;
}

// For the simulated runtime, which knows the names of the host symbols that twins register under.
SIM_EXPORT void simgpuSetTwin(const char* kernel, Twin twin) {
    set_twin(kernel, twin);
}

}  // namespace simgpu
