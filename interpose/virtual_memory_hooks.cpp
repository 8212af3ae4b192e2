// Virtual memory management: physical memory behind a handle, and the addresses it is mapped at.
#include "interpose/driver_library.hpp"
#include "interpose/pool_memory.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {
namespace {

/// Tells the tracker of a call that has succeeded.
template <typename Tell>
void tell(CUresult result, Tell tell_tracker) noexcept {
    Tool* const tool = result == CUDA_SUCCESS ? watching() : nullptr;
    if (tool != nullptr) {
        guarded([&] { tell_tracker(*tool, tool->session.tracker()); });
    }
}

void track_physical(Tool& tool, CUmemGenericAllocationHandle handle, std::size_t bytes,
                    const CUmemLocation& location, bool is_imported, const char* api) {
    const bool is_on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    Allocation memory;
    memory.kind = is_on_device ? BlockKind::Physical : BlockKind::PhysicalHost;
    memory.ptr = handle;
    memory.bytes = bytes;
    memory.device = is_on_device ? location.id : -1;
    memory.is_imported = is_imported;
    memory.site = tool.session.site(api);
    tool.session.tracker().allocated(memory);
}

/// What an imported handle stands for: its size shows when it is mapped.
void track_imported(Tool& tool, CUmemGenericAllocationHandle handle) {
    CUmemAllocationProp properties{};
    const auto ask = reinterpret_cast<decltype(&cuMemGetAllocationPropertiesFromHandle)>(
        driver_library::find("cuMemGetAllocationPropertiesFromHandle"));
    if (ask != nullptr && ask(&properties, handle) == CUDA_SUCCESS) {
        track_physical(tool, handle, 0, properties.location, true,
                       "cuMemImportFromShareableHandle");
    }
}

}  // namespace
}  // namespace cuward

CUresult hook_cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                          const CUmemAllocationProp* properties, unsigned long long flags) {
    using namespace cuward;
    const CUmemLocation location = properties != nullptr ? properties->location : CUmemLocation{};
    std::optional<int> device;
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        device = location.id;
    }
    const CUresult result = with_pool_memory(
        [&] { return real<Hook::cuMemCreate_>()(handle, bytes, properties, flags); }, device);
    tell(result, [&](Tool& tool, Tracker&) {
        track_physical(tool, *handle, bytes, location, false, "cuMemCreate");
    });
    return result;
}

CUresult hook_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shared,
                                             CUmemAllocationHandleType type) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMemImportFromShareableHandle_>()(handle, shared, type);
    tell(result, [&](Tool& tool, Tracker&) { track_imported(tool, *handle); });
    return result;
}

CUresult hook_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMemRetainAllocationHandle_>()(handle, address);
    tell(result, [&](Tool&, Tracker& tracker) {
        tracker.physical_retained(*handle, reinterpret_cast<Address>(address));
    });
    return result;
}

CUresult hook_cuMemRelease(CUmemGenericAllocationHandle handle) {
    using namespace cuward;
    // Told before the call, as the driver may give the handle to other memory before it returns; it
    // refuses only handles that nobody knows.
    if (Tool* const tool = watching()) {
        guarded([&] {
            tool->session.tracker().physical_released(handle, tool->session.site("cuMemRelease"));
        });
    }
    return real<Hook::cuMemRelease_>()(handle);
}

CUresult hook_cuMulticastCreate(CUmemGenericAllocationHandle* handle,
                                const CUmulticastObjectProp* properties) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMulticastCreate_>()(handle, properties);
    tell(result,
         [&](Tool&, Tracker& tracker) { tracker.multicast_created(*handle, properties->size); });
    return result;
}

CUresult hook_cuMulticastBindMem(CUmemGenericAllocationHandle object, std::size_t offset,
                                 CUmemGenericAllocationHandle memory, std::size_t memory_offset,
                                 std::size_t bytes, unsigned long long flags) {
    using namespace cuward;
    const CUresult result =
        real<Hook::cuMulticastBindMem_>()(object, offset, memory, memory_offset, bytes, flags);
    tell(result, [&](Tool&, Tracker& tracker) {
        tracker.multicast_bound(object, offset, memory, memory_offset, bytes);
    });
    return result;
}

CUresult hook_cuMulticastBindAddr(CUmemGenericAllocationHandle object, std::size_t offset,
                                  CUdeviceptr memory, std::size_t bytes, unsigned long long flags) {
    using namespace cuward;
    const CUresult result =
        real<Hook::cuMulticastBindAddr_>()(object, offset, memory, bytes, flags);
    tell(result, [&](Tool&, Tracker& tracker) {
        tracker.multicast_bound(object, offset, 0, memory, bytes);
    });
    return result;
}

CUresult hook_cuMulticastUnbind(CUmemGenericAllocationHandle object, CUdevice device,
                                std::size_t offset, std::size_t bytes) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMulticastUnbind_>()(object, device, offset, bytes);
    tell(result, [&](Tool&, Tracker& tracker) {
        tracker.multicast_unbound(object, device, offset, bytes);
    });
    return result;
}

CUresult hook_cuMemMap(CUdeviceptr ptr, std::size_t bytes, std::size_t offset,
                       CUmemGenericAllocationHandle handle, unsigned long long flags) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMemMap_>()(ptr, bytes, offset, handle, flags);
    tell(result, [&](Tool&, Tracker& tracker) { tracker.mapped(ptr, bytes, handle, offset); });
    return result;
}

CUresult hook_cuMemUnmap(CUdeviceptr ptr, std::size_t bytes) {
    using namespace cuward;
    Tool* const tool = watching();
    PendingUnmap pending;
    bool waited = false;
    const bool begun = tool != nullptr && guarded([&] {
                           pending = tool->session.tracker().begin_unmap(
                               ptr, bytes, tool->session.site("cuMemUnmap"));
                           waited = tool->session.order().host_waits(pending.missing);
                       });
    const CUresult result = real<Hook::cuMemUnmap_>()(ptr, bytes);
    if (begun) {
        guarded(
            [&] { tool->session.tracker().end_unmap(pending, result == CUDA_SUCCESS, waited); });
    }
    return result;
}
