// Device memory that is usable at once: cuMemAlloc and its relatives, and cuMemFree.
#include <limits>

#include "interpose/driver_allocation.hpp"
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
                          .resource_block = BlockId(*block),
                          .free_waits_for_device = block->free_waits_for_device},
                         *here, "cuMemAlloc");
    }
}

/// About what cuMemAllocPitch takes, whose pitch on every device so far is a multiple of 512 bytes;
/// what overflows is more than there is.
std::uint64_t pitched_bytes(std::uint64_t width, std::uint64_t height) {
    constexpr std::uint64_t kGranularity = 512;
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    if (width > kMost - (kGranularity - 1)) {
        return kMost;
    }
    const std::uint64_t pitch = (width + kGranularity - 1) / kGranularity * kGranularity;
    return height != 0 && pitch > kMost / height ? kMost : pitch * height;
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
    return allocate_by_driver(
        "cuMemAllocPitch", pitched_bytes(width, height),
        [&] { return real<Hook::cuMemAllocPitch_v2_>()(ptr, pitch, width, height, element_bytes); },
        [&] {
            return NewBlock{.kind = BlockKind::Pitched, .ptr = *ptr, .bytes = *pitch * height};
        });
}

CUresult hook_cuMemAllocManaged(CUdeviceptr* ptr, std::size_t bytes, unsigned int flags) {
    using namespace cuward;
    return allocate_by_driver(
        "cuMemAllocManaged", bytes,
        [&] { return real<Hook::cuMemAllocManaged_>()(ptr, bytes, flags); },
        [&] { return NewBlock{.kind = BlockKind::Managed, .ptr = *ptr, .bytes = bytes}; });
}

CUresult hook_cuMemFree_v2(CUdeviceptr ptr) {
    using namespace cuward;
    const auto driver = [ptr] {
        return is_hidden(ptr) ? CUDA_ERROR_INVALID_VALUE : real<Hook::cuMemFree_v2_>()(ptr);
    };
    return watch_free({.kind = FreeKind::Device, .ptr = ptr}, "cuMemFree",
                      [&](Tool* tool, const BlockId& block) {
                          return release_block(tool, block, deallocate, driver);
                      });
}
