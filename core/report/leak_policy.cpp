#include "core/report/leak_policy.hpp"

#include <algorithm>

#include "core/report/frames.hpp"
#include "core/report/patterns.hpp"

namespace cuward::report {

namespace {

enum class Where {
    Anywhere,   // on the way to the allocation: a caching allocator, whatever serves it below
    Innermost,  // the module that asked CUDA for the memory, CUDA and the C++ runtime aside
};

struct Keeper {
    const char* pattern;
    Where where;
};

constexpr Keeper kKeepers[] = {
    // Caching allocators, which may get their memory through a pluggable one.
    {"libc10_cuda.so*", Where::Anywhere},
    {"librmm.so*", Where::Anywhere},
    // Frameworks. Their dispatchers are also on the stack of a program's own extension, whose leaks
    // are leaks.
    {"libtorch_*.so*", Where::Innermost},
    {"*/cupy/*.so", Where::Innermost},
    {"*/cupy_backends/*.so", Where::Innermost},
    {"*/jaxlib/*.so", Where::Innermost},
    {"*/jax_plugins/*.so", Where::Innermost},
    {"*xla_cuda_plugin*.so*", Where::Innermost},
    // NVIDIA's libraries: workspaces and tables made at first use.
    {"libcublas.so*", Where::Innermost},
    {"libcublasLt.so*", Where::Innermost},
    {"libcudnn*.so*", Where::Innermost},
    {"libcufft*.so*", Where::Innermost},
    {"libcurand.so*", Where::Innermost},
    {"libcusparse*.so*", Where::Innermost},
    {"libcusolver*.so*", Where::Innermost},
    {"libnccl*.so*", Where::Innermost},
    {"libnvjpeg*.so*", Where::Innermost},
    {"libnpp*.so*", Where::Innermost},
};

}  // namespace

std::string keeper_of(const std::vector<std::string>& modules) {
    const auto innermost = std::find_if(modules.begin(), modules.end(), [](const auto& module) {
        return !is_cuda_or_tool_module(module) && !is_system_module(module);
    });
    for (auto module = innermost; module != modules.end(); ++module) {
        for (const Keeper& keeper : kKeepers) {
            const bool counts = keeper.where == Where::Anywhere || module == innermost;
            if (counts && module_matches(keeper.pattern, *module)) {
                return *module;
            }
        }
    }
    return {};
}

}  // namespace cuward::report
