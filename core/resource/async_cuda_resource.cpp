#include "core/resource/async_cuda_resource.hpp"

#include <algorithm>
#include <utility>

namespace cuward {
namespace {

/// Batches of frees asked about for each new one: more than one, so that the pending ones get
/// fewer.
constexpr std::size_t kReapedPerBatch = 2;

/// What a pool takes for a block, in bytes: observed to be multiples of this.
std::size_t size_in_pool(std::size_t bytes) {
    constexpr std::size_t kGranule = 512;
    return (bytes + kGranule - 1) / kGranule * kGranule;
}

tl::unexpected<ResourceFailure> driver_failure(CUresult result) {
    return tl::unexpected(ResourceFailure{ResourceError::Driver, result});
}

/// After a free: the driver does not know the address, or not any more. It must not be tried again,
/// as the next block may be there.
bool is_gone(CUresult freed) {
    return freed == CUDA_SUCCESS || freed == CUDA_ERROR_INVALID_VALUE;
}

bool is_out_of_memory(const ResourceResult<DeviceBlock>& block) {
    return !block && block.error().driver_result == CUDA_ERROR_OUT_OF_MEMORY;
}

}  // namespace

AsyncCudaResource::AsyncCudaResource(CudaDevice device, int device_ordinal)
    : DirectCudaResource(device, device_ordinal),
      pool_(device.driver(), device_ordinal),
      cache_(device.driver(), events()) {}

AsyncCudaResource::~AsyncCudaResource() {
    release_unused(Wait::Never);
}

// Allocation

ResourceResult<DeviceBlock> AsyncCudaResource::allocate(std::size_t bytes, StreamId stream,
                                                        AllocTag tag) {
    if (bytes > 0 && stream == kNoStream && can_pool()) {
        const auto block =
            with_more_memory(Wait::Never, [&] { return allocate_pooled(bytes, tag); });
        if (block) {
            return block;
        }
    }
    // The driver answers itself. Waiting comes last: bare, the program would have waited when it
    // freed that memory.
    return with_more_memory(Wait::ForFrees, [&] {
        return with_more_memory(Wait::Never,
                                [&] { return DirectCudaResource::allocate(bytes, stream, tag); });
    });
}

bool AsyncCudaResource::can_pool() {
    return !direct_only_ && device().driver().has_memory_pools() && device().sees_all_work() &&
           !device().is_capturing() && has_pools().value_or(false);
}

ResourceResult<DeviceBlock> AsyncCudaResource::allocate_pooled(std::size_t bytes, AllocTag tag) {
    free_orphans();
    const auto address = take_or_allocate(bytes);
    if (!address) {
        return driver_failure(address.error());
    }
    const std::size_t used = used_bytes_ += size_in_pool(bytes);
    if (used > peak_bytes_.load(std::memory_order_relaxed)) {
        peak_bytes_.store(used, std::memory_order_relaxed);  // of two threads either one will do
    }
    return adopt(*address, bytes, kNoStream, tag, BlockOrigin::Pooled);
}

tl::expected<Address, CUresult> AsyncCudaResource::take_or_allocate(std::size_t bytes) {
    std::optional<Address> cached = cache_.take(bytes);
    if (!cached) {
        settle(cache_.collect());
        cached = cache_.take(bytes);
    }
    return cached ? tl::expected<Address, CUresult>(*cached) : pool_.allocate(bytes);
}

template <typename Allocate>
ResourceResult<DeviceBlock> AsyncCudaResource::with_more_memory(Wait wait, Allocate allocate) {
    ResourceResult<DeviceBlock> block = allocate();
    if (is_out_of_memory(block) && pool_.reserved_bytes() > 0) {
        release_unused(wait);
        block = allocate();
    }
    return block;
}

// Deallocation

ResourceResult<void> AsyncCudaResource::deallocate(const DeviceBlock& block) {
    return pooled_bytes(block) > 0 ? retire(block) : DirectCudaResource::deallocate(block);
}

ResourceResult<void> AsyncCudaResource::deallocate_synchronously(const DeviceBlock& block) {
    return pooled_bytes(block) > 0 ? retire(block)
                                   : DirectCudaResource::deallocate_synchronously(block);
}

ResourceResult<void> AsyncCudaResource::deallocate_on(const DeviceBlock& block,
                                                      StreamId free_stream) {
    const std::size_t bytes = pooled_bytes(block);
    return DirectCudaResource::deallocate_on(block, free_stream).map([&] {
        used_bytes_ -= size_in_pool(bytes);
    });
}

std::size_t AsyncCudaResource::pooled_bytes(const DeviceBlock& block) {
    if (block.device_ordinal != device_ordinal()) {
        return 0;
    }
    std::size_t bytes = 0;
    blocks().with(BlockId(block), [&](const BlockRecord& record) {
        bytes = record.origin == BlockOrigin::Pooled ? record.bytes : 0;
    });
    return bytes;
}

/// The batch that becomes due is freed at once. A block whose own free the driver refuses stays
/// live; the others of its batch have been answered already and are tried again with the next.
ResourceResult<void> AsyncCudaResource::retire(const DeviceBlock& block) {
    const auto frees = pool_.free_stream();
    if (!frees) {
        return driver_failure(frees.error());
    }
    return take(BlockId(block)).and_then([&](BlockTable::Taken taken) -> ResourceResult<void> {
        const std::size_t bytes = size_in_pool(taken.mapped().bytes);
        used_bytes_ -= bytes;
        retired_.add(std::move(taken));
        if (!retired_.is_due()) {
            return {};
        }
        Batch left;
        const CUresult result = free_retired(*frees, left);
        const auto own = std::find_if(left.begin(), left.end(), [&](const BlockTable::Taken& one) {
            return one.mapped().generation == block.generation;
        });
        const bool refused = own != left.end();
        if (refused) {
            used_bytes_ += bytes;
            blocks().put_back(std::move(*own));
            left.erase(own);
        }
        retired_.add(std::move(left));
        return refused ? driver_failure(result) : ResourceResult<void>{};
    });
}

/// Gives what could not be freed. During a capture everything stays retired: recording an event
/// could become part of the graph.
CUresult AsyncCudaResource::free_retired(const UsePoint& frees, Batch& left) {
    if (device().is_capturing()) {
        return CUDA_SUCCESS;
    }
    left = retired_.take_all();
    return left.empty() ? CUDA_SUCCESS : free_all(frees, left);
}

CUresult AsyncCudaResource::free_all(const UsePoint& frees, Batch& batch) {
    CUresult result = wait_for_uses(frees, batch);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (keep(frees, batch)) {
        return CUDA_SUCCESS;
    }
    std::size_t bytes = 0;
    std::erase_if(batch, [&](const BlockTable::Taken& block) {
        const CUresult freed = pool_.free(block.key(), frees);
        const bool gone = is_gone(freed);
        bytes += gone ? block.mapped().bytes : 0;
        result = gone ? result : freed;
        return gone;
    });
    settle(pending().reap(kReapedPerBatch));
    if (bytes > 0) {
        settle(pending().add(frees, bytes));
    }
    return result;
}

/// A program that frees this much at once will not ask for the same again soon enough.
std::size_t AsyncCudaResource::most_cached_bytes() const {
    constexpr std::size_t kAlways = std::size_t{64} << 20;
    const std::size_t peak = peak_bytes_.load(std::memory_order_relaxed);
    return peak - std::min(peak, used_bytes_.load()) + kAlways;
}

/// Puts the batch into the cache. Large blocks are left to the pool, which can cut them up.
bool AsyncCudaResource::keep(const UsePoint& frees, Batch& batch) {
    BlockCache::Blocks blocks;
    for (const BlockTable::Taken& block : batch) {
        const std::size_t bytes = block.mapped().bytes;
        if (bytes >= RetiredBlocks::kMostBytes) {
            return false;
        }
        blocks.push_back({.address = block.key(), .bytes = bytes});
    }
    if (cache_.keep(frees, std::move(blocks)) != CUDA_SUCCESS) {
        return false;
    }
    batch.clear();
    settle(cache_.collect());
    give_up_cached(most_cached_bytes());
    return true;
}

/// Leaves at most `limit` bytes of free blocks in the cache. The others are free on the device, and
/// cuMemFree gives such memory to its pool at once.
void AsyncCudaResource::give_up_cached(std::size_t limit) {
    for (const BlockCache::Block& block : cache_.take_surplus(limit)) {
        (void)device().driver().mem_free(block.address);
    }
}

/// What the stream of frees cannot wait for, the host does, as it would in cuMemFree.
CUresult AsyncCudaResource::wait_for_uses(const UsePoint& frees, const Batch& batch) {
    if (!device().sees_all_work()) {
        return wait_for_device();
    }
    for (const UsePoint& use : unfinished(frees, batch)) {
        const std::uint64_t event = device().event_behind(use);
        const CUresult result = event != 0 ? events().queue_wait(event, frees.stream)
                                           : events().queue_wait(use, frees.stream);
        if (result != CUDA_SUCCESS) {
            return wait_for_device();
        }
    }
    return CUDA_SUCCESS;
}

/// Uses may go unrecorded, through pointers in memory or in graphs: therefore everything the host
/// has not seen complete, as cuMemFree waits for.
std::vector<UsePoint> AsyncCudaResource::unfinished(const UsePoint& frees,
                                                    const Batch& batch) const {
    std::vector<UsePoint> uses;
    device().for_each_unfinished([&](const UsePoint& use) { uses.push_back(use); });
    Dependencies recorded;
    for (const BlockTable::Taken& block : batch) {
        block.mapped().uses.dependencies(Access::ReadWrite, frees, recorded);
    }
    for (const UsePoint& use : recorded) {
        const bool known = std::any_of(uses.begin(), uses.end(), [&](const UsePoint& other) {
            return other.lane == use.lane;
        });
        if (!known && !device().provided(use, CudaDevice::host())) {
            uses.push_back(use);
        }
    }
    return uses;
}

/// By the one call that waits for all contexts of the device: cuMemFree of ordinary memory
/// (measured).
CUresult AsyncCudaResource::wait_for_device() {
    const DriverApi& driver = device().driver();
    CUdeviceptr any = 0;
    const CUresult result = driver.mem_alloc(&any, 1);
    return result == CUDA_SUCCESS ? driver.mem_free(any) : result;
}

void AsyncCudaResource::reap_pending() {
    try_to_free_retired();
    if (!device().is_capturing()) {
        settle(cache_.collect());
    }
    DirectCudaResource::reap_pending();
}

void AsyncCudaResource::await_pending() {
    try_to_free_retired();
    if (!device().is_capturing()) {
        (void)pool_.wait_for_frees(0);
        settle(cache_.collect());
    }
    DirectCudaResource::reap_pending();
}

void AsyncCudaResource::try_to_free_retired() {
    if (retired_.empty()) {
        return;
    }
    const auto frees = pool_.free_stream();
    if (frees) {
        Batch left;
        (void)free_retired(*frees, left);
        retired_.add(std::move(left));
    }
}

// Memory that others need

std::size_t AsyncCudaResource::unused_bytes() const {
    const std::size_t reserved = pool_.reserved_bytes();
    return reserved - std::min(reserved, used_bytes_.load());
}

void AsyncCudaResource::release_unused(Wait wait) {
    free_orphans();
    try_to_free_retired();
    give_up_cache();
    if (wait == Wait::ForFrees && !device().is_capturing()) {
        (void)pool_.wait_for_frees(0);
    }
    pool_.trim();
    DirectCudaResource::reap_pending();
}

/// Gives all of the cache to the pool, behind the work that its blocks wait for.
void AsyncCudaResource::give_up_cache() {
    settle(cache_.collect());
    for (const BlockCache::Waiting& waiting : cache_.take_waiting()) {
        std::size_t bytes = 0;
        for (const BlockCache::Block& block : waiting.blocks) {
            (void)pool_.free(block.address, waiting.frees);
            bytes += block.bytes;
        }
        settle(pending().add(waiting.frees, bytes));
    }
    give_up_cached(0);
}

// Ends of contexts

ResourceResult<void> AsyncCudaResource::forget(const BlockId& block) {
    return take(block).map([&](BlockTable::Taken taken) {
        const BlockRecord& record = taken.mapped();
        settle(record.bytes);
        if (record.origin == BlockOrigin::Pooled) {
            used_bytes_ -= size_in_pool(record.bytes);
            orphans_.add(std::move(taken));
            free_orphans();
        }
    });
}

/// No work uses this memory any more. Freeing it needs a current context, whichever (measured);
/// without one it waits for the next call.
void AsyncCudaResource::free_orphans() {
    if (orphans_.empty() || device().is_capturing()) {
        return;
    }
    Batch orphans = orphans_.take_all();
    std::erase_if(orphans, [&](const BlockTable::Taken& block) {
        return is_gone(device().driver().mem_free(block.key()));
    });
    orphans_.add(std::move(orphans));
}

void AsyncCudaResource::forget_context(ContextId context) {
    DirectCudaResource::forget_context(context);
    settle(cache_.forget_context(context));
    pool_.forget_context(context);
}

}  // namespace cuward
