// The driver's start, and the ends of contexts: what lived in a context is gone with it.
#include "interpose/driver_library.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {
namespace {

template <typename Destroy>
CUresult destroy_context(CUcontext context, Destroy destroy) {
    Tool* const tool = watching();
    if (tool != nullptr) {
        guarded([&] { tool->session.context_ending(reinterpret_cast<ContextId>(context)); });
    }
    const CUresult result = destroy(context);
    if (tool != nullptr && result == CUDA_SUCCESS) {
        guarded([&] {
            tool->session.context_ended(reinterpret_cast<ContextId>(context),
                                        tool->session.site("cuCtxDestroy"));
        });
    }
    return result;
}

/// Releasing destroys the primary context only when the last reference goes, and resetting leaves
/// an inactive one alone (Driver API manual, "Primary Context Management"): asked before and after.
template <typename Call>
CUresult end_primary_context(CUdevice device, const char* api, Call call) {
    Tool* const tool = watching();
    ContextId context = 0;
    if (tool != nullptr) {
        guarded([&] {
            context = tool->driver.active_primary_context(device);
            tool->session.context_ending(context);
        });
    }
    const CUresult result = call(device);
    if (context != 0 && result == CUDA_SUCCESS) {
        guarded([&] {
            if (!tool->driver.primary_context_is_active(device)) {
                tool->session.context_ended(context, tool->session.site(api));
            }
        });
    }
    return result;
}

constexpr const char* kRelease = "cuDevicePrimaryCtxRelease";
constexpr const char* kReset = "cuDevicePrimaryCtxReset";

}  // namespace
}  // namespace cuward

CUresult hook_cuInit(unsigned int flags) {
    using namespace cuward;
    const CUresult result = real<Hook::cuInit_>()(flags);
    if (result == CUDA_SUCCESS) {
        start_watching();
    }
    return result;
}

CUresult hook_cuCtxDestroy(CUcontext context) {
    using namespace cuward;
    return destroy_context(context, real<Hook::cuCtxDestroy_>());
}

CUresult hook_cuCtxDestroy_v2(CUcontext context) {
    using namespace cuward;
    return destroy_context(context, real<Hook::cuCtxDestroy_v2_>());
}

CUresult hook_cuDevicePrimaryCtxRelease(CUdevice device) {
    using namespace cuward;
    return end_primary_context(device, kRelease, real<Hook::cuDevicePrimaryCtxRelease_>());
}

CUresult hook_cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    using namespace cuward;
    return end_primary_context(device, kRelease, real<Hook::cuDevicePrimaryCtxRelease_v2_>());
}

CUresult hook_cuDevicePrimaryCtxReset(CUdevice device) {
    using namespace cuward;
    return end_primary_context(device, kReset, real<Hook::cuDevicePrimaryCtxReset_>());
}

CUresult hook_cuDevicePrimaryCtxReset_v2(CUdevice device) {
    using namespace cuward;
    return end_primary_context(device, kReset, real<Hook::cuDevicePrimaryCtxReset_v2_>());
}
