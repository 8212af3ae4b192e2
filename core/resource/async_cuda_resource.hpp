// Ordinary device memory from a pool: what cuMemAlloc and cuMemFree promise, without their price.
#pragma once

#include <atomic>
#include <vector>

#include "core/resource/block_cache.hpp"
#include "core/resource/direct_cuda_resource.hpp"
#include "core/resource/memory_pool.hpp"
#include "core/resource/retired_blocks.hpp"

namespace cuward {

/// Serves allocate(bytes, kNoStream) from a pool of its own; all other requests as the direct
/// resource does. Memory it hands out is usable on any stream at once. Freeing it does not block
/// the host: the memory is used anew when every recorded use, and everything else that was
/// unfinished on the device, is complete. Only cuMemFree's wait for the device is lost
/// (DeviceBlock::free_waits_for_device).
///
/// Serves directly what a pool cannot: on a device without pools, while a stream is captured, while
/// the program's work is not known, and when the pool is out of memory.
class AsyncCudaResource final : public DirectCudaResource {
  public:
    AsyncCudaResource(CudaDevice device, int device_ordinal);
    ~AsyncCudaResource() override;

    ResourceResult<DeviceBlock> allocate(std::size_t bytes, StreamId stream, AllocTag tag) override;
    ResourceResult<void> deallocate(const DeviceBlock& block) override;
    ResourceResult<void> deallocate_on(const DeviceBlock& block, StreamId free_stream) override;
    ResourceResult<void> deallocate_synchronously(const DeviceBlock& block) override;

    /// Queues the frees of blocks collected so far, and completes those that are done.
    void reap_pending() override;
    void await_pending() override;

    /// Memory of a pool is the device's, not the context's: it is given back to the pool as soon as
    /// a context is current again.
    ResourceResult<void> forget(const BlockId& block) override;
    void forget_context(ContextId context) override;

    AsyncCudaResource* pooled() override { return this; }

    /// Bytes held from the driver and not in use by live blocks: free memory to the program.
    std::size_t unused_bytes() const;

    /// Blocks that the program has freed, but not yet the driver.
    bool hides(Address address) const override {
        return retired_.contains(address) || orphans_.contains(address) || cache_.contains(address);
    }

    enum class Wait : std::uint8_t { Never, ForFrees };
    /// Gives unused memory back to the driver, because somebody else needs it. With a wait also the
    /// memory whose free has to wait for work that is still running.
    void release_unused(Wait wait);

    /// From now on memory comes from cuMemAlloc: the program needs what no pool can do.
    void serve_directly() { direct_only_ = true; }

    /// Lets another device access the pool's memory (cuCtxEnablePeerAccess).
    void allow_access_from(int other_device) { (void)pool_.allow_access_from(other_device); }

    /// To be called before a context ends, while it still works.
    void context_ending(ContextId context) override { (void)pool_.wait_for_frees(context); }

  private:
    using Batch = RetiredBlocks::Batch;

    bool can_pool();
    ResourceResult<DeviceBlock> allocate_pooled(std::size_t bytes, AllocTag tag);
    template <typename Allocate>
    ResourceResult<DeviceBlock> with_more_memory(Wait wait, Allocate allocate);

    tl::expected<Address, CUresult> take_or_allocate(std::size_t bytes);
    std::size_t most_cached_bytes() const;
    bool keep(const UsePoint& frees, Batch& batch);
    void give_up_cached(std::size_t limit);
    void give_up_cache();

    /// Bytes of a live block of the pool's, 0 for others.
    std::size_t pooled_bytes(const DeviceBlock& block);
    ResourceResult<void> retire(const DeviceBlock& block);
    CUresult free_retired(const UsePoint& frees, Batch& left);
    CUresult free_all(const UsePoint& frees, Batch& batch);
    CUresult wait_for_uses(const UsePoint& frees, const Batch& batch);
    std::vector<UsePoint> unfinished(const UsePoint& frees, const Batch& batch) const;
    CUresult wait_for_device();
    void try_to_free_retired();
    void free_orphans();

    MemoryPool pool_;
    BlockCache cache_;
    RetiredBlocks retired_;
    RetiredBlocks orphans_;  ///< of contexts that have ended
    std::atomic<bool> direct_only_{false};
    std::atomic<std::size_t> used_bytes_{0};  ///< of live blocks, as the pool counts them
    std::atomic<std::size_t> peak_bytes_{0};  ///< the most of them at a time
};

}  // namespace cuward
