#include "core/resource/direct_cuda_resource.hpp"

#include <algorithm>
#include <utility>

namespace cuward {
namespace {

/// "Any address of a variable residing in global memory or returned by one of the memory allocation
/// routines from the driver or runtime API is always aligned to at least 256 bytes" (CUDA C++
/// Programming Guide, "Device Memory Accesses").
constexpr std::size_t kDriverAlignment = 256;

/// Frees asked about for each new one: more than one, so that the pending ones get fewer.
constexpr std::size_t kReapedPerFree = 2;

tl::unexpected<ResourceFailure> fail(ResourceError error, CUresult result) {
    return tl::unexpected(ResourceFailure{error, result});
}

tl::unexpected<ResourceFailure> driver_failure(CUresult result) {
    return fail(ResourceError::Driver, result);
}

tl::unexpected<ResourceFailure> not_live() {
    return fail(ResourceError::UseAfterFree, CUDA_ERROR_INVALID_VALUE);
}

CUstream handle_of(StreamId stream) {
    return reinterpret_cast<CUstream>(static_cast<std::uint64_t>(stream));
}

/// Unique over all devices: an address belongs to one device after another in the course of a
/// process.
Generation next_generation() {
    static std::atomic<std::uint64_t> last{0};
    return Generation{++last};
}

}  // namespace

DirectCudaResource::DirectCudaResource(CudaDevice device, int device_ordinal)
    : device_(device),
      device_ordinal_(device_ordinal),
      events_(device.driver()),
      pending_(device.driver(), events_) {}

ResourceResult<DeviceBlock> DirectCudaResource::allocate(std::size_t bytes, StreamId stream,
                                                         AllocTag tag) {
    if (bytes == 0) {
        return fail(ResourceError::StreamMisuse, CUDA_ERROR_INVALID_VALUE);
    }
    if (stream == kNoStream) {
        return allocate_direct(bytes, stream, tag);
    }
    return has_pools().and_then([&](bool pools) {
        return pools ? allocate_on(bytes, stream, tag) : allocate_direct(bytes, stream, tag);
    });
}

/// Asked without a lock, as the driver may call back into the tool; threads that ask at the same
/// time get the same answer.
tl::expected<bool, ResourceFailure> DirectCudaResource::has_pools() {
    const DriverApi& driver = device_.driver();
    if (driver.mem_alloc_async == nullptr || driver.mem_free_async == nullptr) {
        return false;
    }
    const Pools known = pools_.load();
    if (known != Pools::Unknown) {
        return known == Pools::Present;
    }
    CUdevice device = 0;
    CUresult result = driver.device_get(&device, device_ordinal_);
    int supported = 0;
    if (result == CUDA_SUCCESS) {
        result = driver.device_get_attribute(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                             device);
    }
    if (result != CUDA_SUCCESS) {
        return driver_failure(result);
    }
    pools_.store(supported != 0 ? Pools::Present : Pools::Absent);
    return supported != 0;
}

ResourceResult<DeviceBlock> DirectCudaResource::allocate_direct(std::size_t bytes, StreamId stream,
                                                                AllocTag tag) {
    CUdeviceptr address = 0;
    const CUresult result = device_.driver().mem_alloc(&address, bytes);
    if (result != CUDA_SUCCESS) {
        return driver_failure(result);
    }
    return adopt(address, bytes, stream, tag, BlockOrigin::Direct);
}

ResourceResult<DeviceBlock> DirectCudaResource::allocate_on(std::size_t bytes, StreamId stream,
                                                            AllocTag tag) {
    CUdeviceptr address = 0;
    const CUresult result = device_.driver().mem_alloc_async(&address, bytes, handle_of(stream));
    if (result != CUDA_SUCCESS) {
        return driver_failure(result);
    }
    return adopt(address, bytes, stream, tag, BlockOrigin::StreamOrdered);
}

DeviceBlock DirectCudaResource::adopt(Address address, std::size_t bytes, StreamId stream,
                                      AllocTag tag, BlockOrigin origin) {
    const bool ordered = origin == BlockOrigin::StreamOrdered;
    BlockRecord record{.bytes = bytes,
                       .alloc_stream = stream,
                       .generation = next_generation(),
                       .tag = tag,
                       .origin = origin,
                       .uses = BlockUses(ordered ? device_.point(stream) : UsePoint{})};
    const DeviceBlock block = describe(address, record);
    outstanding_ += block.bytes;
    const std::optional<BlockRecord> stale = blocks_.insert(address, std::move(record));
    if (stale) {
        // The driver gives an address only when it is free, so the old block has gone unseen.
        outstanding_ -= stale->bytes;
    }
    return block;
}

DeviceBlock DirectCudaResource::describe(Address address, const BlockRecord& record) const {
    return {.ptr = address,
            .device_ordinal = device_ordinal_,
            .alloc_stream = record.alloc_stream,
            .bytes = record.bytes,
            .align = kDriverAlignment,
            .tag = record.tag,
            .generation = record.generation,
            .state = BlockState::Live,
            .free_waits_for_device = record.origin == BlockOrigin::Direct};
}

ResourceResult<void> DirectCudaResource::deallocate(const DeviceBlock& block) {
    return take(BlockId(block)).and_then([&](BlockTable::Taken taken) {
        const BlockRecord& record = taken.mapped();
        return record.origin == BlockOrigin::Direct
                   ? free_now(std::move(taken))
                   : free_behind_uses(std::move(taken), record.alloc_stream);
    });
}

ResourceResult<void> DirectCudaResource::deallocate_on(const DeviceBlock& block,
                                                       StreamId free_stream) {
    if (free_stream == kNoStream) {
        return fail(ResourceError::StreamMisuse, CUDA_ERROR_INVALID_HANDLE);
    }
    return take(BlockId(block)).and_then([&](BlockTable::Taken taken) {
        const BlockRecord& record = taken.mapped();
        const bool lacks_pools =
            record.origin == BlockOrigin::Direct && record.alloc_stream != kNoStream;
        return lacks_pools ? free_now(std::move(taken))
                           : free_behind_uses(std::move(taken), free_stream);
    });
}

ResourceResult<void> DirectCudaResource::deallocate_synchronously(const DeviceBlock& block) {
    return take(BlockId(block)).and_then([&](BlockTable::Taken taken) {
        const BlockRecord& record = taken.mapped();
        return record.origin == BlockOrigin::Direct || seen_by_host(record)
                   ? free_now(std::move(taken))
                   : free_behind_uses(std::move(taken), record.alloc_stream);
    });
}

ResourceResult<BlockTable::Taken> DirectCudaResource::take(const BlockId& id) {
    return check_device(id).and_then([&]() -> ResourceResult<BlockTable::Taken> {
        BlockTable::Taken taken = blocks_.take(id);
        if (taken.empty()) {
            return not_live();
        }
        return taken;
    });
}

bool DirectCudaResource::seen_by_host(const BlockRecord& record) const {
    const UsePoint host = CudaDevice::host();
    Dependencies uses;
    record.uses.dependencies(Access::ReadWrite, host, uses);
    return std::all_of(uses.begin(), uses.end(),
                       [&](const UsePoint& use) { return device_.provided(use, host); });
}

ResourceResult<void> DirectCudaResource::free_now(BlockTable::Taken taken) {
    const CUresult result = device_.driver().mem_free(taken.key());
    if (result != CUDA_SUCCESS) {
        blocks_.put_back(std::move(taken));
        return driver_failure(result);
    }
    outstanding_ -= taken.mapped().bytes;
    return {};
}

ResourceResult<void> DirectCudaResource::free_behind_uses(BlockTable::Taken taken,
                                                          StreamId stream) {
    const UsePoint later = device_.point(stream);
    const CUresult result = queue_free(taken.key(), taken.mapped(), later);
    if (result != CUDA_SUCCESS) {
        blocks_.put_back(std::move(taken));
        return driver_failure(result);
    }
    const std::size_t bytes = taken.mapped().bytes;
    reap(kReapedPerFree);
    outstanding_ -= device_.observes_only() ? bytes : pending_.add(later, bytes);
    return {};
}

CUresult DirectCudaResource::queue_free(Address address, const BlockRecord& record,
                                        const UsePoint& later) {
    if (device_.driver().mem_free_async == nullptr) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    Dependencies uses;
    record.uses.dependencies(Access::ReadWrite, later, uses);
    const CUresult waited = queue_waits(uses, later);
    return waited == CUDA_SUCCESS
               ? device_.driver().mem_free_async(address, handle_of(later.stream))
               : waited;
}

/// One wait a lane is enough: it covers everything queued on that lane by now.
CUresult DirectCudaResource::queue_waits(const Dependencies& uses, const UsePoint& later) {
    if (uses.empty()) {
        return CUDA_SUCCESS;
    }
    Dependencies queued;
    for (const UsePoint& use : uses) {
        if (queued.has_lane(use.lane) || device_.provided(use, later)) {
            continue;
        }
        const std::uint64_t event = device_.event_behind(use);
        const CUresult result = event != 0 ? events_.queue_wait(event, later.stream)
                                           : events_.queue_wait(use, later.stream);
        if (result != CUDA_SUCCESS) {
            return result;
        }
        queued.add(use);
        device_.queued(use, later);
    }
    return CUDA_SUCCESS;
}

void DirectCudaResource::reap_pending() {
    reap(pending_.size());
}

/// Asking about an event is a call that a capture elsewhere may forbid, and be broken by (Driver
/// API manual, cuThreadExchangeStreamCaptureMode).
void DirectCudaResource::reap(std::size_t limit) {
    if (!device_.is_capturing()) {
        outstanding_ -= pending_.reap(limit);
    }
}

ResourceResult<void> DirectCudaResource::record_block_use(const BlockId& block,
                                                          StreamId use_stream) {
    return note_use(block, use_stream,
                    [](BlockUses& uses, const UsePoint& use) { uses.record(use); });
}

ResourceResult<void> DirectCudaResource::finish_block_use(const BlockId& block, StreamId use_stream,
                                                          Access access) {
    return note_use(block, use_stream,
                    [access](BlockUses& uses, const UsePoint& use) { uses.finish(access, use); });
}

template <typename Note>
ResourceResult<void> DirectCudaResource::note_use(const BlockId& block, StreamId use_stream,
                                                  Note note) {
    return check_use(block, use_stream).and_then([&]() -> ResourceResult<void> {
        if (!device_.needs_uses()) {
            return {};
        }
        const UsePoint use = device_.point(use_stream);
        const bool live = blocks_.with(block, [&](BlockRecord& record) { note(record.uses, use); });
        return live ? ResourceResult<void>{} : not_live();
    });
}

ResourceResult<void> DirectCudaResource::prepare_block_use(const BlockId& block,
                                                           StreamId use_stream, Access access) {
    return check_use(block, use_stream).and_then([&]() -> ResourceResult<void> {
        if (!device_.needs_uses()) {
            return {};
        }
        const UsePoint later = device_.point(use_stream);
        Dependencies uses;
        const bool live = blocks_.with(
            block, [&](BlockRecord& record) { record.uses.dependencies(access, later, uses); });
        if (!live) {
            return not_live();
        }
        const CUresult result = queue_waits(uses, later);
        return result == CUDA_SUCCESS ? ResourceResult<void>{} : driver_failure(result);
    });
}

std::optional<DeviceBlock> DirectCudaResource::find(Address address) const {
    std::optional<DeviceBlock> found;
    blocks_.with_address(address,
                         [&](const BlockRecord& record) { found = describe(address, record); });
    return found;
}

ResourceResult<void> DirectCudaResource::forget(const BlockId& block) {
    return take(block).map(
        [&](const BlockTable::Taken& taken) { outstanding_ -= taken.mapped().bytes; });
}

void DirectCudaResource::forget_context(ContextId context) {
    outstanding_ -= pending_.forget_context(context);
    events_.forget_context(context);
}

ResourceResult<void> DirectCudaResource::check_device(const BlockId& block) const {
    if (block.device_ordinal != device_ordinal_) {
        return fail(ResourceError::StreamMisuse, CUDA_ERROR_INVALID_DEVICE);
    }
    return {};
}

ResourceResult<void> DirectCudaResource::check_use(const BlockId& block,
                                                   StreamId use_stream) const {
    if (use_stream == kNoStream) {
        return fail(ResourceError::StreamMisuse, CUDA_ERROR_INVALID_HANDLE);
    }
    return check_device(block);
}

}  // namespace cuward
