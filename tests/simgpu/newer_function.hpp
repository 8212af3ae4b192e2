// The number of the function that the simulated device has beyond those of the toolkit's headers.
#pragma once

#include <cupti_driver_cbid.h>

namespace simgpu {

inline constexpr unsigned newer_function = CUPTI_DRIVER_TRACE_CBID_SIZE;

}  // namespace simgpu
