#pragma once

#include <optional>
#include <string_view>

#include "headers.hpp"

// Failing on demand: SIMGPU_FAIL="cuMemAlloc_v2:3=2,cuLaunchKernel:*=719".
namespace simgpu {

struct ApiEntry;

void read_faults(std::string_view text);
bool has_fault(std::string_view symbol);
// Counts one call of the function; the error it must return, if a rule says so.
std::optional<CUresult> next_fault(ApiEntry& api);

}  // namespace simgpu
