// What the hooks ask the driver themselves.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace cuward {

class DriverState {
  public:
    /// Names of functions that the loaded driver lacks; the other members need all of them.
    std::vector<const char*> load();

    struct Current {
        ContextId context = 0;
        int device = -1;
    };
    /// The calling thread's context and its device; none is no error.
    std::optional<Current> current() const;
    /// The context and device a stream belongs to.
    std::optional<Current> owner_of(CUstream stream) const;
    std::optional<Current> device_of(CUcontext context) const;

    /// Whether calls on the stream build a graph, or whether that cannot be told (the legacy stream
    /// while another stream of its context captures).
    bool may_be_capturing(CUstream stream) const;
    bool has_memory_pools(int device) const;

    /// The primary context of a device, 0 when it is not active.
    ContextId active_primary_context(CUdevice device) const;
    bool primary_context_is_active(CUdevice device) const;

    int device_count() const;
    struct Device {
        int ordinal = -1;
        std::string name;
        std::size_t bytes = 0;
    };
    /// Creates no context.
    std::vector<Device> devices() const;
    int driver_version() const;

  private:
    decltype(&::cuCtxGetCurrent) ctx_get_current_ = nullptr;
    decltype(&::cuCtxPushCurrent_v2) ctx_push_current_ = nullptr;
    decltype(&::cuCtxPopCurrent_v2) ctx_pop_current_ = nullptr;
    decltype(&::cuCtxGetDevice) ctx_get_device_ = nullptr;
    decltype(&::cuStreamGetCtx) stream_get_ctx_ = nullptr;
    decltype(&::cuStreamIsCapturing) stream_is_capturing_ = nullptr;
    decltype(&::cuDeviceGet) device_get_ = nullptr;
    decltype(&::cuDeviceGetCount) device_get_count_ = nullptr;
    decltype(&::cuDeviceGetName) device_get_name_ = nullptr;
    decltype(&::cuDeviceTotalMem) device_total_mem_ = nullptr;
    decltype(&::cuDeviceGetAttribute) device_get_attribute_ = nullptr;
    decltype(&::cuDevicePrimaryCtxGetState) primary_get_state_ = nullptr;
    decltype(&::cuDevicePrimaryCtxRetain) primary_retain_ = nullptr;
    decltype(&::cuDevicePrimaryCtxRelease) primary_release_ = nullptr;
    decltype(&::cuDriverGetVersion) driver_get_version_ = nullptr;
};

}  // namespace cuward
