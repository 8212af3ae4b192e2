// Who calls: the driver, its companions and CUPTI look functions up for themselves and must get the
// driver's own.
#pragma once

namespace cuward {

/// Whether code at this return address gets the driver's own functions instead of hooks.
bool gets_real_functions(const void* return_address);

}  // namespace cuward
