// cuGetProcAddress, through which the runtime and most libraries reach the driver: the driver
// answers, and where its answer is a function with a hook, the hook takes its place.
#include "interpose/callers.hpp"
#include "interpose/driver_library.hpp"
#include "interpose/environment.hpp"
#include "interpose/unknown_functions.hpp"

namespace cuward {
namespace {

struct Request {
    const char* base;
    int cuda_version;
    cuuint64_t flags;
};

/// By address, which cannot be wrong; by the request where the driver hands out another address
/// than it exports.
bool find_requested_hook(const Request& request, const void* answer, Hook& hook) {
    if (driver_library::find_hook_at(answer, hook)) {
        return true;
    }
    const bool per_thread = (request.flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    return find_hook(request.base, request.cuda_version, per_thread, hook);
}

void take_over(const Request& request, void** function, const void* caller) {
    if (function == nullptr || *function == nullptr || is_disabled() ||
        gets_real_functions(caller)) {
        return;
    }
    Hook hook{};
    if (find_requested_hook(request, *function, hook)) {
        *function = address_of(hook);
    } else {
        looked_up(request.base);
    }
}

}  // namespace
}  // namespace cuward

CUresult hook_cuGetProcAddress(const char* symbol, void** function, int cuda_version,
                               cuuint64_t flags) {
    using namespace cuward;
    const CUresult result = real<Hook::cuGetProcAddress_>()(symbol, function, cuda_version, flags);
    if (result == CUDA_SUCCESS) {
        take_over({symbol, cuda_version, flags}, function, __builtin_return_address(0));
    }
    return result;
}

CUresult hook_cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version,
                                  cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
    using namespace cuward;
    const CUresult result =
        real<Hook::cuGetProcAddress_v2_>()(symbol, function, cuda_version, flags, status);
    if (result == CUDA_SUCCESS) {
        take_over({symbol, cuda_version, flags}, function, __builtin_return_address(0));
    }
    return result;
}
