// Stream-ordered memory: cuMemAllocAsync and its relatives, in both meanings of stream 0.
#include "interpose/driver_allocation.hpp"
#include "interpose/driver_library.hpp"
#include "interpose/stream_argument.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {
namespace {

/// Where a stream-ordered call is made, if it is one to be tracked: in a capture it builds a graph
/// node and nothing is allocated or freed now.
std::optional<DriverState::Current> place_of(const Tool& tool, CUstream stream) {
    if (tool.driver.may_be_capturing(stream)) {
        return std::nullopt;
    }
    return tool.driver.owner_of(stream);
}

/// The allocation belongs to the stream's device, which need not be the current one (Driver API
/// manual, cuMemAllocAsync). Leaves `result` empty if the driver has to be asked itself.
void allocate(Tool& tool, CUdeviceptr* ptr, std::size_t bytes, CUstream stream,
              std::optional<CUresult>& result) {
    const auto place = place_of(tool, stream);
    if (!place || ptr == nullptr || bytes == 0 || !tool.driver.has_memory_pools(place->device)) {
        return;
    }
    DeviceMemoryResource* const resource = tool.session.resource(place->device);
    if (resource == nullptr) {
        return;
    }
    const auto block = resource->allocate(bytes, id_of(stream), AllocTag{});
    *ptr = address_or_null(block);
    result = driver_answer(block);
    note_refusal(tool, block, place->device, "cuMemAllocAsync");
    if (block) {
        track_allocation(tool,
                         {.kind = BlockKind::Async,
                          .ptr = block->ptr,
                          .bytes = bytes,
                          .stream = stream_of(*place, stream),
                          .resource_block = BlockId(*block)},
                         *place, "cuMemAllocAsync");
    }
}

/// In a capture it is memory of the graph.
void note_untracked(Tool& tool, CUdeviceptr ptr, std::size_t bytes) {
    tool.session.tracker().addresses_given_out(ptr, bytes);
}

template <Hook hook>
CUresult allocate_async(CUdeviceptr* ptr, std::size_t bytes, CUstream stream,
                        StreamId default_stream) {
    Tool* const tool = watching();
    std::optional<CUresult> result;
    if (tool != nullptr) {
        guarded([&] { allocate(*tool, ptr, bytes, named_stream(stream, default_stream), result); });
    }
    if (result) {
        return *result;
    }
    const CUresult answer = real<hook>()(ptr, bytes, stream);
    if (tool != nullptr && answer == CUDA_SUCCESS) {
        guarded([&] { note_untracked(*tool, *ptr, bytes); });
    }
    return answer;
}

constexpr const char* kFromPool = "cuMemAllocFromPoolAsync";

void track_from_pool(Tool& tool, CUdeviceptr ptr, std::size_t bytes, CUstream stream,
                     BudgetClaim& claim) {
    if (const auto place = place_of(tool, stream)) {
        claim.keep(ptr);
        track_allocation(tool,
                         {.kind = BlockKind::Async,
                          .ptr = ptr,
                          .bytes = bytes,
                          .stream = stream_of(*place, stream)},
                         *place, kFromPool);
    } else {
        note_untracked(tool, ptr, bytes);
    }
}

/// No resource allocates from a pool that the program names, so the driver does.
template <Hook hook>
CUresult allocate_from_pool(CUdeviceptr* ptr, std::size_t bytes, CUmemoryPool pool, CUstream stream,
                            StreamId default_stream) {
    Tool* const tool = watching();
    const CUstream named = named_stream(stream, default_stream);
    BudgetClaim claim;
    if (tool != nullptr && tool->session.settings().budget) {
        guarded([&] { claim.take(*tool, place_of(*tool, named), bytes, kFromPool); });
    }
    if (claim.is_refused()) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const CUresult result =
        with_pool_memory([&] { return real<hook>()(ptr, bytes, pool, stream); });
    if (tool != nullptr && result == CUDA_SUCCESS) {
        guarded([&] { track_from_pool(*tool, *ptr, bytes, named, claim); });
    }
    return result;
}

template <Hook hook>
CUresult free_async(CUdeviceptr ptr, CUstream stream, StreamId default_stream) {
    const auto driver = [&] {
        return is_hidden(ptr) ? CUDA_ERROR_INVALID_VALUE : real<hook>()(ptr, stream);
    };
    Tool* const tool = watching();
    const CUstream named = named_stream(stream, default_stream);
    std::optional<DriverState::Current> place;
    if (tool != nullptr) {
        guarded([&] { place = place_of(*tool, named); });
    }
    if (!place) {
        return driver();
    }
    const auto deallocate = [&](DeviceMemoryResource& resource, const BlockId& block) {
        return driver_answer(resource.deallocate_on(named_block(block), id_of(named)));
    };
    return watch_free({.kind = FreeKind::Async, .ptr = ptr, .stream = stream_of(*place, named)},
                      "cuMemFreeAsync", [&](Tool* owner, const BlockId& block) {
                          return release_block(owner, block, deallocate, driver);
                      });
}

}  // namespace
}  // namespace cuward

CUresult hook_cuMemAllocAsync(CUdeviceptr* ptr, std::size_t bytes, CUstream stream) {
    using namespace cuward;
    return allocate_async<Hook::cuMemAllocAsync_>(ptr, bytes, stream, kLegacyStream);
}

CUresult hook_cuMemAllocAsync_ptsz(CUdeviceptr* ptr, std::size_t bytes, CUstream stream) {
    using namespace cuward;
    return allocate_async<Hook::cuMemAllocAsync_ptsz_>(ptr, bytes, stream, kPerThreadStream);
}

CUresult hook_cuMemAllocFromPoolAsync(CUdeviceptr* ptr, std::size_t bytes, CUmemoryPool pool,
                                      CUstream stream) {
    using namespace cuward;
    return allocate_from_pool<Hook::cuMemAllocFromPoolAsync_>(ptr, bytes, pool, stream,
                                                              kLegacyStream);
}

CUresult hook_cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* ptr, std::size_t bytes, CUmemoryPool pool,
                                           CUstream stream) {
    using namespace cuward;
    return allocate_from_pool<Hook::cuMemAllocFromPoolAsync_ptsz_>(ptr, bytes, pool, stream,
                                                                   kPerThreadStream);
}

CUresult hook_cuMemFreeAsync(CUdeviceptr ptr, CUstream stream) {
    using namespace cuward;
    return free_async<Hook::cuMemFreeAsync_>(ptr, stream, kLegacyStream);
}

CUresult hook_cuMemFreeAsync_ptsz(CUdeviceptr ptr, CUstream stream) {
    using namespace cuward;
    return free_async<Hook::cuMemFreeAsync_ptsz_>(ptr, stream, kPerThreadStream);
}
