#pragma once

#include <cuda.h>
#include <cupti_callbacks.h>

#include <cstdint>

// What the simulated CUPTI needs of the simulated driver. The driver exports one function returning
// this table, so the two libraries are joined at run time only, as the real ones are.
namespace simgpu {

struct CuptiBridge {
    void (*set_subscriber)(CUpti_CallbackFunc callback, void* userdata);
    void (*set_driver_callback)(uint32_t cbid, bool on);
    void (*set_resource_callback)(uint32_t cbid, bool on);
    bool (*context_id)(CUcontext context, uint32_t* id);
    bool (*stream_id)(CUcontext context, CUstream stream, bool per_thread, uint32_t* id);
    bool (*device_id)(CUcontext context, uint32_t* id);
};

inline constexpr const char* bridge_symbol = "simgpuCuptiBridge";
using BridgeFunction = const CuptiBridge* (*)();

// In the driver: tells the subscriber about a context, stream or module.
void notify_resource(uint32_t cbid, CUcontext context, CUstream stream, void* descriptor);
bool resource_callback_enabled(uint32_t cbid);

}  // namespace simgpu
