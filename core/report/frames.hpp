// Which frames of a stack are the program's own, and which belong to CUDA, to this tool or to
// start-up.
#pragma once

#include <string>

#include "core/report/model.hpp"

namespace cuward::report {

/// This tool, the CUDA driver, the shared runtime, CUPTI.
bool is_cuda_or_tool_module(const std::string& path);

/// Libraries that stand between others without meaning anything: the C and C++ runtimes, the
/// loader.
bool is_system_module(const std::string& path);

/// Without the frames that tell the reader nothing: CUDA (also where the runtime is linked
/// statically), this tool, the launch code that nvcc generates for `kernel` (demangled, empty if
/// there is none), and what runs before main. Sets `entry`. A stack of nothing else is returned
/// whole.
Stack without_noise(const Stack& stack, const std::string& kernel);

}  // namespace cuward::report
