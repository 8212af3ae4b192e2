#include "core/report/frames.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/report/patterns.hpp"

namespace cuward::report {

namespace {

constexpr std::array kCudaAndTool{"libcuward.so*", "libcuda.so*",  "libcudart.so*",
                                  "libcudart-*",   "libcupti.so*", "libcudadebugger.so*",
                                  "libnvidia-*",   "libcupti-*"};

constexpr std::array kSystem{"libc.so*",      "libc-*.so",    "libpthread*.so*",
                             "libstdc++.so*", "libgcc_s.so*", "ld-linux*.so*",
                             "libdl.so*",     "libc++.so*",   "libc++abi.so*"};

constexpr std::array<std::string_view, 5> kStartUp{
    "_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone"};

bool in_table(const auto& table, const std::string& path) {
    return std::any_of(table.begin(), table.end(),
                       [&](const char* pattern) { return module_matches(pattern, path); });
}

// "cudaMalloc", "cuMemAlloc_v2": a C function of CUDA, as the program calls it.
bool is_api_name(std::string_view name) {
    const std::size_t prefix = name.starts_with("cuda") ? 4 : name.starts_with("cu") ? 2 : 0;
    return prefix != 0 && name.size() > prefix &&
           std::isupper(static_cast<unsigned char>(name[prefix])) != 0 &&
           name.find_first_of("(<: ") == std::string_view::npos;
}

// The runtime linked into the program: it has symbols but never source lines, which tells its
// functions from the program's own helpers of similar names.
bool is_static_runtime(const Frame& frame) {
    const std::string_view name = frame.function;
    return frame.file.empty() &&
           (name.starts_with("libcudart_static_") || name.starts_with("__cudart") ||
            name.starts_with("cudart::") || name.starts_with("cudaError cuda") ||
            (name.starts_with("cuda") && is_api_name(name)));
}

// Code that the toolkit's headers and nvcc put around the program's.
bool is_toolkit_code(const Frame& frame) {
    const std::string_view file = base_name(frame.file);
    return file == "cuda_runtime.h" || file == "cuda_runtime_api.h" ||
           frame.file.find("/include/crt/") != std::string::npos ||
           file.ends_with(".cudafe1.stub.c") || frame.function.starts_with("__device_stub__") ||
           frame.function.starts_with("__wrapper__device_stub_") ||
           frame.function.find("__cudaLaunchKernel_helper(") != std::string::npos;
}

bool is_start_up(const Frame& frame) {
    return std::any_of(kStartUp.begin(), kStartUp.end(), [&](std::string_view name) {
        return frame.function.starts_with(name) &&
               (frame.function.size() == name.size() || name.starts_with("__libc_start"));
    });
}

bool is_cuda(const Frame& frame) {
    return is_cuda_or_tool_module(frame.module) || is_static_runtime(frame);
}

// "scale" of "void (anonymous namespace)::scale<float>(float*)". Debug information and the symbol
// table disagree on everything around it.
std::string_view bare_name(std::string_view function) {
    constexpr std::string_view kAnonymous = "(anonymous namespace)::";
    if (const std::size_t at = function.rfind(kAnonymous); at != std::string_view::npos) {
        function.remove_prefix(at + kAnonymous.size());
    }
    function = function.substr(0, function.find_first_of("(<"));
    return function.substr(function.find_last_of(" :") + 1);
}

bool is_stub_of(const Frame& frame, const std::string& kernel) {
    return !kernel.empty() && !frame.function.empty() &&
           bare_name(frame.function) == bare_name(kernel);
}

}  // namespace

bool is_cuda_or_tool_module(const std::string& path) {
    return in_table(kCudaAndTool, path);
}

bool is_system_module(const std::string& path) {
    return in_table(kSystem, path);
}

Stack without_noise(const Stack& stack, const std::string& kernel) {
    Stack shown;
    bool leading = true;
    // One frame at most: what calls it may be a function of the program with the kernel's name.
    bool stub_expected = true;
    for (const Frame& frame : stack.frames) {
        if (is_cuda(frame)) {
            if (leading && is_api_name(frame.function)) {
                shown.entry = frame.function;
            }
        } else if (leading && stub_expected && is_stub_of(frame, kernel)) {
            stub_expected = false;
        } else if (!is_toolkit_code(frame)) {
            leading = false;
            if (!is_start_up(frame)) {
                shown.frames.push_back(frame);
            }
        }
    }
    if (shown.frames.empty()) {
        shown.frames = stack.frames;
    }
    return shown;
}

}  // namespace cuward::report
