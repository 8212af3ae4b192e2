// The driver's memory pool of one device, used so that what it hands out is free on the device
// already: never a wait for anybody's work.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <tl/expected.hpp>
#include <unordered_map>

#include "core/resource/cuda_device.hpp"

namespace cuward {

/// Thread-safe; no lock is held while the driver is called. Every call needs a current context of
/// the device unless said otherwise.
///
/// Allocations are queued on a stream that carries nothing else and waits for nothing, frees on
/// another that waits for the uses. The pool may hand a freed block out again only when its free
/// has been executed (opportunistic reuse; Driver API manual, CUmemPool_attribute), as the two
/// streams depend on each other in no other way.
class MemoryPool {
  public:
    MemoryPool(const DriverApi& driver, int device_ordinal)
        : driver_(driver), device_ordinal_(device_ordinal) {}
    ~MemoryPool();
    MemoryPool(const MemoryPool&) = delete;
    MemoryPool& operator=(const MemoryPool&) = delete;

    /// Memory that may be used on any stream at once. Errors: the driver's.
    tl::expected<Address, CUresult> allocate(std::size_t bytes);

    /// The stream of frees in the current context, to queue waits and then frees on.
    tl::expected<UsePoint, CUresult> free_stream();
    CUresult free(Address address, const UsePoint& free_stream);

    /// Waits until all frees queued in a context have been executed; 0 stands for all contexts.
    CUresult wait_for_frees(ContextId context);

    /// Gives memory that is not in use back to the driver.
    void trim();

    /// Bytes taken from the driver, in use or not; 0 while there is no pool yet. Needs no context.
    std::size_t reserved_bytes() const;

    /// Lets another device access all memory of the pool, as cuCtxEnablePeerAccess does with
    /// ordinary memory. Needs no context.
    CUresult allow_access_from(int device_ordinal);

    /// The driver has destroyed the context and its streams. The pool belongs to the device.
    void forget_context(ContextId context);

  private:
    struct Streams {
        CUstream allocations = nullptr;
        CUstream frees = nullptr;
    };
    struct Here {
        ContextId context = 0;
        Streams streams;
    };

    tl::expected<CUmemoryPool, CUresult> pool();
    CUresult create(CUmemoryPool& created);
    CUresult configure(CUmemoryPool pool);
    CUresult allow_access(CUmemoryPool pool, int device_ordinal);
    tl::expected<Here, CUresult> here();
    CUresult create(Streams& streams);
    void destroy(const Streams& streams);

    const DriverApi& driver_;
    int device_ordinal_;
    std::atomic<CUmemoryPool> pool_{nullptr};
    mutable std::mutex mutex_;
    std::unordered_map<ContextId, Streams> streams_;
    std::set<int> peers_;
};

}  // namespace cuward
