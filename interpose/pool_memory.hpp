// Memory that a resource's pool holds unused, where another allocation of the program needs it.
#pragma once

#include <optional>

#include "core/resource/async_cuda_resource.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {

/// The pooled resource of a device, or null.
inline AsyncCudaResource* pool_of(Tool& tool, int device) {
    DeviceMemoryResource* const resource =
        tool.session.settings().backend == Backend::Async ? tool.session.resource(device) : nullptr;
    return resource != nullptr ? resource->pooled() : nullptr;
}

/// Gives unused memory of a device's pool (of the current device unless named) back to the driver.
/// False if there is none.
inline bool release_pool_memory(AsyncCudaResource::Wait wait, std::optional<int> device) {
    Tool* const tool = watching();
    bool released = false;
    if (tool != nullptr && tool->session.settings().backend == Backend::Async) {
        guarded([&] {
            const auto here = tool->driver.current();
            AsyncCudaResource* const pool =
                device || here ? pool_of(*tool, device ? *device : here->device) : nullptr;
            if (pool != nullptr && pool->unused_bytes() > 0) {
                pool->release_unused(wait);
                released = true;
            }
        });
    }
    return released;
}

/// Calls an allocation of the driver's, and when memory is short once more without what the pool
/// holds unused: bare, it would have been free.
template <typename Call>
CUresult with_pool_memory(Call&& call, std::optional<int> device = std::nullopt) {
    CUresult result = call();
    for (const auto wait : {AsyncCudaResource::Wait::Never, AsyncCudaResource::Wait::ForFrees}) {
        if (result != CUDA_ERROR_OUT_OF_MEMORY || !release_pool_memory(wait, device)) {
            break;
        }
        result = call();
    }
    return result;
}

}  // namespace cuward
