// The CUDA driver library of this process and its own functions, reached past every hook.
#pragma once

#include "interpose/hooks.hpp"

namespace cuward::driver_library {

/// Finds the driver among the loaded objects if that has not happened yet; false: it is not loaded.
bool locate();

/// Whether an address lies in the driver. The first library of the driver's name that is met is the
/// driver for the rest of the process; it stays loaded from then on, for hooks are in circulation.
bool contains(const void* address);

/// The driver's own function of this name, or null.
void* find(const char* symbol);

/// The driver's own function behind a hook, or null.
void* function(Hook hook);

/// The hook whose driver function is at `address`; false when there is none.
bool find_hook_at(const void* address, Hook& hook);

}  // namespace cuward::driver_library

namespace cuward {

/// What a call gets when the driver is not in this process (a weak reference that only the hook
/// satisfies) or lacks the function.
template <typename... Arguments>
CUresult driver_absent(Arguments... /*unused*/) {
    return CUDA_ERROR_NOT_INITIALIZED;
}

/// The driver's own function behind a hook, to be called as it is.
template <Hook hook>
typename HookedFunction<hook>::Type real() {
    using Function = typename HookedFunction<hook>::Type;
    auto* const function = reinterpret_cast<Function>(driver_library::function(hook));
    return function != nullptr ? function : static_cast<Function>(driver_absent);
}

}  // namespace cuward
