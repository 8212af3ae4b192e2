#include "interpose/driver_state.hpp"

#include <array>

#include "interpose/driver_library.hpp"

namespace cuward {

std::vector<const char*> DriverState::load() {
    std::vector<const char*> missing;
    const auto need = [&](auto& function, const char* symbol) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
            driver_library::find(symbol));
        if (function == nullptr) {
            missing.push_back(symbol);
        }
    };
    need(ctx_get_current_, "cuCtxGetCurrent");
    need(ctx_push_current_, "cuCtxPushCurrent_v2");
    need(ctx_pop_current_, "cuCtxPopCurrent_v2");
    need(ctx_get_device_, "cuCtxGetDevice");
    need(stream_get_ctx_, "cuStreamGetCtx");
    need(stream_is_capturing_, "cuStreamIsCapturing");
    need(device_get_, "cuDeviceGet");
    need(device_get_count_, "cuDeviceGetCount");
    need(device_get_name_, "cuDeviceGetName");
    need(device_total_mem_, "cuDeviceTotalMem_v2");
    need(device_get_attribute_, "cuDeviceGetAttribute");
    need(primary_get_state_, "cuDevicePrimaryCtxGetState");
    need(primary_retain_, "cuDevicePrimaryCtxRetain");
    need(primary_release_, "cuDevicePrimaryCtxRelease_v2");
    need(driver_get_version_, "cuDriverGetVersion");
    return missing;
}

std::optional<DriverState::Current> DriverState::current() const {
    CUcontext context = nullptr;
    CUdevice device = -1;
    if (ctx_get_current_(&context) != CUDA_SUCCESS || context == nullptr ||
        ctx_get_device_(&device) != CUDA_SUCCESS) {
        return std::nullopt;
    }
    return Current{.context = reinterpret_cast<ContextId>(context), .device = device};
}

std::optional<DriverState::Current> DriverState::owner_of(CUstream stream) const {
    const std::optional<Current> here = current();
    CUcontext context = nullptr;
    if (!here || stream_get_ctx_(stream, &context) != CUDA_SUCCESS) {
        return std::nullopt;
    }
    return reinterpret_cast<ContextId>(context) == here->context ? here : device_of(context);
}

/// The driver tells the device of the current context only.
std::optional<DriverState::Current> DriverState::device_of(CUcontext context) const {
    if (ctx_push_current_(context) != CUDA_SUCCESS) {
        return std::nullopt;
    }
    const std::optional<Current> found = current();
    CUcontext popped = nullptr;
    ctx_pop_current_(&popped);
    return found;
}

/// Asking about the legacy stream during another stream's capture is an error that leaves the
/// capture valid (Driver API manual, cuStreamIsCapturing).
bool DriverState::may_be_capturing(CUstream stream) const {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return stream_is_capturing_(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool DriverState::has_memory_pools(int device) const {
    int supported = 0;
    return device_get_attribute_(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device) ==
               CUDA_SUCCESS &&
           supported != 0;
}

bool DriverState::primary_context_is_active(CUdevice device) const {
    unsigned int flags = 0;
    int active = 0;
    return primary_get_state_(device, &flags, &active) == CUDA_SUCCESS && active != 0;
}

/// Retaining is the only way to learn the handle. On an active context that counts up and down
/// again; on an inactive one it would create it.
ContextId DriverState::active_primary_context(CUdevice device) const {
    CUcontext context = nullptr;
    if (!primary_context_is_active(device) || primary_retain_(&context, device) != CUDA_SUCCESS) {
        return 0;
    }
    primary_release_(device);
    return reinterpret_cast<ContextId>(context);
}

int DriverState::device_count() const {
    int count = 0;
    return device_get_count_(&count) == CUDA_SUCCESS ? count : 0;
}

std::vector<DriverState::Device> DriverState::devices() const {
    std::vector<Device> devices;
    for (int ordinal = 0; ordinal < device_count(); ++ordinal) {
        CUdevice handle = 0;
        std::array<char, 256> name{};
        std::size_t bytes = 0;
        if (device_get_(&handle, ordinal) == CUDA_SUCCESS &&
            device_get_name_(name.data(), name.size(), handle) == CUDA_SUCCESS &&
            device_total_mem_(&bytes, handle) == CUDA_SUCCESS) {
            devices.push_back({.ordinal = ordinal, .name = name.data(), .bytes = bytes});
        }
    }
    return devices;
}

int DriverState::driver_version() const {
    int version = 0;
    return driver_get_version_(&version) == CUDA_SUCCESS ? version : 0;
}

}  // namespace cuward
