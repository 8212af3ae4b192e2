// The default source of device memory: every allocation and free goes to the driver.
#pragma once

#include <atomic>
#include <optional>

#include "core/resource/block_table.hpp"
#include "core/resource/cuda_device.hpp"
#include "core/resource/device_memory_resource.hpp"
#include "core/resource/pending_frees.hpp"
#include "core/resource/stream_wait.hpp"

namespace cuward {

/// Not pooled; tracks uses. Resources that serve some requests otherwise build upon it. Callers
/// have a context of the device current, as CUDA asks of them too, and make no call here for
/// streams that are being captured.
class DirectCudaResource : public DeviceMemoryResource {
  public:
    DirectCudaResource(CudaDevice device, int device_ordinal);

    const CudaDevice& device() const { return device_; }

    /// On a device without memory pools a stream-ordered request is served by cuMemAlloc as well.
    ResourceResult<DeviceBlock> allocate(std::size_t bytes, StreamId stream, AllocTag tag) override;

    /// Frees the way the block was allocated: cuMemFreeAsync on the allocation's stream, which
    /// first waits for every recorded use, or cuMemFree. The latter has no stream and queues no
    /// wait, as it waits for the device's work itself.
    ResourceResult<void> deallocate(const DeviceBlock& block) override;

    /// cuMemFreeAsync on a stream of the caller's choice, which first waits for every recorded use.
    ResourceResult<void> deallocate_on(const DeviceBlock& block, StreamId free_stream) override;

    /// cuMemFree whatever the block's origin. For a stream-ordered block cuMemFree does not wait
    /// for pending uses (Driver API manual, cuMemFree): if the host is not known to have seen all
    /// of them complete, the block is freed on its allocation's stream, behind them, instead.
    ResourceResult<void> deallocate_synchronously(const DeviceBlock& block) override;

    int device_ordinal() const override { return device_ordinal_; }

    /// A stream-ordered free counts as pending until the device has executed it; where the order
    /// forbids to queue anything (UseOrder::observes_only), only until it has been queued.
    std::size_t bytes_outstanding() const override { return outstanding_.load(); }
    void reap_pending() override;

    bool supports_block_use_tracking() const override { return true; }
    ResourceResult<void> record_block_use(const BlockId& block, StreamId use_stream) override;
    ResourceResult<void> prepare_block_use(const BlockId& block, StreamId use_stream,
                                           Access access) override;
    ResourceResult<void> finish_block_use(const BlockId& block, StreamId use_stream,
                                          Access access) override;

    std::optional<DeviceBlock> find(Address address) const override;
    ResourceResult<void> forget(const BlockId& block) override;
    void forget_context(ContextId context) override;

  protected:
    /// Whether the driver and the device have memory pools.
    tl::expected<bool, ResourceFailure> has_pools();

    ResourceResult<DeviceBlock> allocate_direct(std::size_t bytes, StreamId stream, AllocTag tag);
    /// Enters memory that the driver has just handed out.
    DeviceBlock adopt(Address address, std::size_t bytes, StreamId stream, AllocTag tag,
                      BlockOrigin origin);

    /// Takes a block out of the table, so that no other thread can free it while the driver
    /// decides.
    ResourceResult<BlockTable::Taken> take(const BlockId& id);

    BlockTable& blocks() { return blocks_; }
    StreamEvents& events() { return events_; }
    PendingFrees& pending() { return pending_; }
    /// Bytes of blocks that are live no more and have been freed.
    void settle(std::size_t bytes) { outstanding_ -= bytes; }

  private:
    enum class Pools : std::uint8_t { Unknown, Absent, Present };

    ResourceResult<DeviceBlock> allocate_on(std::size_t bytes, StreamId stream, AllocTag tag);
    DeviceBlock describe(Address address, const BlockRecord& record) const;

    bool seen_by_host(const BlockRecord& record) const;
    ResourceResult<void> free_now(BlockTable::Taken taken);
    ResourceResult<void> free_behind_uses(BlockTable::Taken taken, StreamId stream);
    CUresult queue_free(Address address, const BlockRecord& record, const UsePoint& later);
    void reap(std::size_t limit);
    CUresult queue_waits(const Dependencies& uses, const UsePoint& later);

    template <typename Note>
    ResourceResult<void> note_use(const BlockId& block, StreamId use_stream, Note note);
    ResourceResult<void> check_device(const BlockId& block) const;
    ResourceResult<void> check_use(const BlockId& block, StreamId use_stream) const;

    CudaDevice device_;
    int device_ordinal_;
    std::atomic<Pools> pools_{Pools::Unknown};
    std::atomic<std::size_t> outstanding_{0};
    BlockTable blocks_;
    StreamEvents events_;
    PendingFrees pending_;
};

}  // namespace cuward
