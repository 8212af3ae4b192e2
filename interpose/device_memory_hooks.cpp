// Device memory that is usable at once: cuMemAlloc and its relatives, and cuMemFree.
#include "interpose/driver_library.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {
namespace {

/// cuMemAlloc through the resource of the current device. Leaves `result` empty if the driver has
/// to be asked itself, because it will refuse: then its own words count.
void allocate(Tool& tool, CUdeviceptr* ptr, std::size_t bytes, std::optional<CUresult>& result) {
    const auto here = tool.driver.current();
    DeviceMemoryResource* const resource = here ? tool.session.resource(here->device) : nullptr;
    if (resource == nullptr || ptr == nullptr || bytes == 0) {
        return;
    }
    const auto block = resource->allocate(bytes, kNoStream, AllocTag{});
    *ptr = address_or_null(block);
    result = driver_answer(block);
    note_refusal(tool, block, here->device, "cuMemAlloc");
    if (block) {
        track_allocation(tool,
                         {.kind = BlockKind::Device,
                          .ptr = block->ptr,
                          .bytes = bytes,
                          .resource_block = BlockId(*block)},
                         *here, "cuMemAlloc");
    }
}

/// A block of the resource's, given back by cuMemFree whatever call it came from.
std::optional<CUresult> deallocate(DeviceMemoryResource& resource, const BlockId& block) {
    return driver_answer(resource.deallocate_synchronously(named_block(block)));
}

}  // namespace
}  // namespace cuward

CUresult hook_cuMemAlloc_v2(CUdeviceptr* ptr, std::size_t bytes) {
    using namespace cuward;
    Tool* const tool = watching();
    std::optional<CUresult> result;
    if (tool != nullptr) {
        guarded([&] { allocate(*tool, ptr, bytes, result); });
    }
    return result ? *result : real<Hook::cuMemAlloc_v2_>()(ptr, bytes);
}

CUresult hook_cuMemAllocPitch_v2(CUdeviceptr* ptr, std::size_t* pitch, std::size_t width,
                                 std::size_t height, unsigned int element_bytes) {
    using namespace cuward;
    const CUresult result =
        real<Hook::cuMemAllocPitch_v2_>()(ptr, pitch, width, height, element_bytes);
    watch_allocation(result, "cuMemAllocPitch", [&] {
        return NewBlock{.kind = BlockKind::Pitched, .ptr = *ptr, .bytes = *pitch * height};
    });
    return result;
}

CUresult hook_cuMemAllocManaged(CUdeviceptr* ptr, std::size_t bytes, unsigned int flags) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMemAllocManaged_>()(ptr, bytes, flags);
    watch_allocation(result, "cuMemAllocManaged", [&] {
        return NewBlock{.kind = BlockKind::Managed, .ptr = *ptr, .bytes = bytes};
    });
    return result;
}

CUresult hook_cuMemFree_v2(CUdeviceptr ptr) {
    using namespace cuward;
    return watch_free({.kind = FreeKind::Device, .ptr = ptr}, "cuMemFree",
                      [ptr](Tool* tool, const BlockId& block) {
                          return release_block(tool, block, deallocate,
                                               [ptr] { return real<Hook::cuMemFree_v2_>()(ptr); });
                      });
}
