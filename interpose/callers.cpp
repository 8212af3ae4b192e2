#include "interpose/callers.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "interpose/loaded_object.hpp"

namespace cuward {
namespace {

constexpr std::array<std::string_view, 5> kOwnLibraries{"libcuda.so", "libcudadebugger.so",
                                                        "libcupti.so", "libnvidia-", "libnvperf"};

bool is_own_library(std::string_view name) {
    return std::any_of(kOwnLibraries.begin(), kOwnLibraries.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

// Not cached: asked only about the few names that are hooked, while a cache would have to notice
// that a library was unloaded and another now has its addresses.
bool gets_real_functions(const void* return_address) {
    LoadedObject object;
    return find_object(return_address, object) &&
           (object.contains(reinterpret_cast<const void*>(&gets_real_functions)) ||
            is_own_library(object.name()));
}

}  // namespace cuward
