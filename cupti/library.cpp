#include "cupti/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace cuward::cupti {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool is_cupti(std::string_view path) {
    const std::string_view name = file_name(path);
    return name.starts_with("libcupti.so") || name.starts_with("libcupti-");
}

/// CUPTI of the driver's major version, or of the one before, which the driver also serves.
std::vector<std::string> names(int driver_major) {
    return {"libcupti.so." + std::to_string(driver_major),
            "libcupti.so." + std::to_string(driver_major - 1)};
}

class Candidates {
  public:
    explicit Candidates(int driver_major) : names_(names(driver_major)) {}

    void add(const std::string& path) {
        if (std::find(paths_.begin(), paths_.end(), path) == paths_.end()) {
            paths_.push_back(path);
        }
    }
    void add_names() {
        for (const std::string& name : names_) {
            add(name);
        }
    }
    void add_folder(const std::string& folder) {
        for (const std::string& name : names_) {
            std::string path = folder;
            path += '/';
            path += name;
            add(path);
        }
    }
    std::vector<std::string> take() { return std::move(paths_); }

  private:
    std::vector<std::string> names_;
    std::vector<std::string> paths_;
};

/// NVIDIA's Python packages: nvidia/cu13/lib since CUDA 13, nvidia/cuda_cupti/lib before; beside
/// one another and beside the packages that need them, such as torch.
void add_python_packages(std::string_view library, int driver_major, Candidates& found) {
    for (const std::string_view folder : {"/nvidia/", "/site-packages/", "/dist-packages/"}) {
        const std::size_t at = library.rfind(folder);
        if (at == std::string_view::npos) {
            continue;
        }
        const bool is_packages = folder != "/nvidia/";
        const std::string nvidia =
            std::string(library.substr(0, at + (is_packages ? folder.size() : 1))) + "nvidia";
        found.add_folder(nvidia + "/cu" + std::to_string(driver_major) + "/lib");
        found.add_folder(nvidia + "/cuda_cupti/lib");
    }
}

void add_toolkit(const std::string& root, Candidates& found) {
    found.add_folder(root + "/extras/CUPTI/lib64");
    found.add_folder(root + "/lib64");
    found.add_folder(root + "/targets/x86_64-linux/lib");
    found.add_folder(root + "/lib");
}

bool resolve(void* handle, Library& library) {
    library.subscribe =
        reinterpret_cast<decltype(library.subscribe)>(dlsym(handle, "cuptiSubscribe"));
    library.unsubscribe =
        reinterpret_cast<decltype(library.unsubscribe)>(dlsym(handle, "cuptiUnsubscribe"));
    library.enable_callback =
        reinterpret_cast<decltype(library.enable_callback)>(dlsym(handle, "cuptiEnableCallback"));
    return library.subscribe != nullptr && library.unsubscribe != nullptr &&
           library.enable_callback != nullptr;
}

/// Where the dynamic linker found it.
std::string path_of(void* handle, const std::string& asked_for) {
    const link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr ||
        *map->l_name == '\0') {
        return asked_for;
    }
    return map->l_name;
}

}  // namespace

SearchPlaces search_places(int driver_version) {
    SearchPlaces places;
    places.driver_major = driver_version / 1000;
    places.chosen = variable("CUWARD_CUPTI");
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
        const std::string root = variable(name);
        if (!root.empty()) {
            places.toolkits.push_back(root);
        }
    }
    places.toolkits.emplace_back("/usr/local/cuda");
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* paths) {
            if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
                static_cast<std::vector<std::string>*>(paths)->emplace_back(info->dlpi_name);
            }
            return 0;
        },
        &places.loaded_libraries);
    return places;
}

std::vector<std::string> candidates(const SearchPlaces& places) {
    Candidates found(places.driver_major);
    for (const std::string& library : places.loaded_libraries) {
        if (is_cupti(library)) {
            found.add(library);
        }
    }
    if (!places.chosen.empty()) {
        found.add(places.chosen);
        return found.take();
    }
    for (const std::string& library : places.loaded_libraries) {
        add_python_packages(library, places.driver_major, found);
    }
    found.add_names();
    for (const std::string& root : places.toolkits) {
        add_toolkit(root, found);
    }
    for (const std::string& library : places.loaded_libraries) {
        if (file_name(library).starts_with("libcudart")) {
            found.add_folder(library.substr(0, library.rfind('/')));
        }
    }
    return found.take();
}

Library load_library(const SearchPlaces& places) {
    for (const std::string& candidate : candidates(places)) {
        void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
        Library library;
        if (handle != nullptr && resolve(handle, library)) {
            library.path = path_of(handle, candidate);
            return library;
        }
    }
    Library none;
    if (places.chosen.empty()) {
        none.reason = "no " + names(places.driver_major).front() +
                      " found; install CUPTI (part of the CUDA toolkit) or set CUWARD_CUPTI to its "
                      "path";
    } else {
        none.reason = "CUWARD_CUPTI=" + places.chosen + " cannot be loaded";
    }
    return none;
}

}  // namespace cuward::cupti
