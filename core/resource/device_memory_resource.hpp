// What every source of device memory offers: allocate, deallocate, and the tracking of uses by
// streams.
#pragma once

#include <cstddef>
#include <optional>
#include <tl/expected.hpp>

#include "core/types.hpp"

namespace cuward {

/// One allocation as its resource hands it out.
struct DeviceBlock {
    Address ptr = 0;
    int device_ordinal = -1;
    StreamId alloc_stream = kNoStream;  ///< kNoStream: usable on any stream at once
    std::size_t bytes = 0;              ///< as requested
    std::size_t align = 0;              ///< guaranteed alignment of ptr in bytes
    AllocTag tag{};
    Generation generation{};
    BlockState state = BlockState::Live;
    bool free_waits_for_device = true;  ///< cuMemFree of it does, as of ordinary memory
};

/// Names one allocation among all that ever had its address.
struct BlockId {
    BlockId() = default;
    explicit BlockId(const DeviceBlock& block)
        : ptr(block.ptr),
          generation(block.generation),
          alloc_stream(block.alloc_stream),
          device_ordinal(block.device_ordinal) {}
    bool operator==(const BlockId&) const = default;

    Address ptr = 0;
    Generation generation{};
    StreamId alloc_stream = kNoStream;
    int device_ordinal = -1;
};

enum class ResourceError { OutOfBudget, Driver, StreamMisuse, UseAfterFree, OutOfBounds };

/// The numbers of a request that a budget had no room for, in bytes.
struct BudgetRefusal {
    std::uint64_t requested = 0;
    std::uint64_t current = 0;
    std::uint64_t remaining = 0;
    std::uint64_t limit = 0;
};

/// Why a resource refused. `driver_result` is the CUresult to hand to the program: the driver's own
/// for ResourceError::Driver, otherwise the one CUDA would give for such a request.
struct ResourceFailure {
    ResourceError error = ResourceError::Driver;
    int driver_result = 0;
    BudgetRefusal refusal{};  ///< of ResourceError::OutOfBudget
};

template <typename T>
using ResourceResult = tl::expected<T, ResourceFailure>;

class AsyncCudaResource;

/// Thread-safe source of device memory of one device.
class DeviceMemoryResource {
  public:
    virtual ~DeviceMemoryResource() = default;

    /// Allocates `bytes` (> 0; zero is StreamMisuse with CUDA_ERROR_INVALID_VALUE). With a stream
    /// the allocation is ordered on it (cuMemAllocAsync), with kNoStream it is usable at once
    /// (cuMemAlloc).
    virtual ResourceResult<DeviceBlock> allocate(std::size_t bytes, StreamId stream,
                                                 AllocTag tag) = 0;

    /// Ends the life of a block. Errors: UseAfterFree for a block that is not live in this
    /// resource, Driver when the driver refuses (the block then stays live).
    virtual ResourceResult<void> deallocate(const DeviceBlock& block) = 0;

    /// What cuMemFreeAsync asks for: a free on a stream of the caller's choice, behind every
    /// recorded use. Errors as deallocate, and StreamMisuse for kNoStream.
    virtual ResourceResult<void> deallocate_on(const DeviceBlock& block, StreamId free_stream) = 0;

    /// What cuMemFree asks for, whatever call the block came from.
    virtual ResourceResult<void> deallocate_synchronously(const DeviceBlock& block) = 0;

    /// The live block that starts at `address`.
    virtual std::optional<DeviceBlock> find(Address address) const = 0;

    /// Whether the driver knows memory at this address that the program does not, or not any more:
    /// it would carry out a free that bare would be refused.
    virtual bool hides(Address /*address*/) const { return false; }

    /// The driver has taken the block itself (context destroyed, device reset): no driver call for
    /// it. UseAfterFree for a block that is not live.
    virtual ResourceResult<void> forget(const BlockId& block) = 0;

    /// The driver has destroyed a context: what this resource kept there is gone, frees pending in
    /// it are done. Blocks are forgotten one by one, as resources do not know contexts of blocks.
    virtual void forget_context(ContextId context) = 0;

    /// A context may be about to end and still works: the last moment for calls in it.
    virtual void context_ending(ContextId /*context*/) {}

    virtual int device_ordinal() const = 0;

    /// Bytes requested by blocks that are live, or retired and not yet freed.
    virtual std::size_t bytes_outstanding() const = 0;

    /// Completes pending frees whose work is done; never waits.
    virtual void reap_pending() {}

    /// The same, and waits for those that cuMemFree would have waited for: the program expects
    /// their memory to be free by now.
    virtual void await_pending() { reap_pending(); }

    /// The resource at the bottom of the stack if it keeps a pool of its own, else null.
    virtual AsyncCudaResource* pooled() { return nullptr; }

    /// Looks for damage in all memory that is guarded.
    virtual void check_all() {}

    virtual bool supports_block_use_tracking() const { return false; }

    // Use tracking. Unless a resource tracks uses these three refuse with StreamMisuse, as silently
    // doing nothing would be false safety. Errors otherwise: UseAfterFree for a block that is not
    // live, StreamMisuse for a block of another device or kNoStream, Driver for a wait that cannot
    // be queued.

    /// Notes that `use_stream` uses the block in an unknown way until now: later uses of other
    /// streams wait for it like for a write. It has itself waited for nothing, so earlier uses stay
    /// outstanding.
    virtual ResourceResult<void> record_block_use(const BlockId& block, StreamId use_stream);

    /// Makes `use_stream` wait for whatever the access depends on: a read for the last write of
    /// another stream, a write also for every outstanding read of other streams.
    virtual ResourceResult<void> prepare_block_use(const BlockId& block, StreamId use_stream,
                                                   Access access);

    /// Notes that the access was queued: a read joins the outstanding reads, a write replaces the
    /// last write and clears them.
    virtual ResourceResult<void> finish_block_use(const BlockId& block, StreamId use_stream,
                                                  Access access);
};

}  // namespace cuward
