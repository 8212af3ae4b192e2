#include "core/resource/memory_pool.hpp"

#include <limits>
#include <vector>

namespace cuward {
namespace {

UsePoint point_of(CUstream stream, ContextId context) {
    const auto handle = reinterpret_cast<std::uint64_t>(stream);
    return {.stream = StreamId{handle}, .context = context, .lane = handle};
}

CUstream handle_of(const UsePoint& point) {
    return reinterpret_cast<CUstream>(static_cast<std::uint64_t>(point.stream));
}

}  // namespace

MemoryPool::~MemoryPool() {
    for (const auto& [context, streams] : streams_) {
        destroy(streams);
    }
    if (CUmemoryPool pool = pool_.load()) {
        driver_.mem_pool_destroy(pool);
    }
}

tl::expected<Address, CUresult> MemoryPool::allocate(std::size_t bytes) {
    const auto from = pool();
    if (!from) {
        return tl::unexpected(from.error());
    }
    const auto place = here();
    if (!place) {
        return tl::unexpected(place.error());
    }
    const CUstream stream = place->streams.allocations;
    CUdeviceptr address = 0;
    CUresult result = driver_.mem_alloc_from_pool_async(&address, bytes, *from, stream);
    if (result != CUDA_SUCCESS) {
        return tl::unexpected(result);
    }
    // Until the allocation has been executed other streams may not use the memory. The stream has
    // nothing else to do, so this does not sleep.
    result = driver_.stream_synchronize(stream);
    if (result != CUDA_SUCCESS) {
        driver_.mem_free(address);
        return tl::unexpected(result);
    }
    return address;
}

tl::expected<UsePoint, CUresult> MemoryPool::free_stream() {
    return here().map(
        [](const Here& place) { return point_of(place.streams.frees, place.context); });
}

CUresult MemoryPool::free(Address address, const UsePoint& free_stream) {
    return driver_.mem_free_async(address, handle_of(free_stream));
}

CUresult MemoryPool::wait_for_frees(ContextId context) {
    std::vector<CUstream> waited_for;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [owner, streams] : streams_) {
            if (context == 0 || owner == context) {
                waited_for.push_back(streams.frees);
            }
        }
    }
    CUresult result = CUDA_SUCCESS;
    for (const CUstream stream : waited_for) {
        const CUresult waited = driver_.stream_synchronize(stream);
        result = result == CUDA_SUCCESS ? waited : result;
    }
    return result;
}

void MemoryPool::trim() {
    if (CUmemoryPool pool = pool_.load()) {
        driver_.mem_pool_trim_to(pool, 0);
    }
}

std::size_t MemoryPool::reserved_bytes() const {
    cuuint64_t bytes = 0;
    CUmemoryPool pool = pool_.load();
    const bool known =
        pool != nullptr && driver_.mem_pool_get_attribute(
                               pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes) == CUDA_SUCCESS;
    return known ? bytes : 0;
}

CUresult MemoryPool::allow_access_from(int device_ordinal) {
    {
        const std::lock_guard lock(mutex_);
        peers_.insert(device_ordinal);
    }
    CUmemoryPool pool = pool_.load();
    return pool != nullptr ? allow_access(pool, device_ordinal) : CUDA_SUCCESS;
}

void MemoryPool::forget_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    streams_.erase(context);
}

tl::expected<CUmemoryPool, CUresult> MemoryPool::pool() {
    CUmemoryPool known = pool_.load();
    if (known != nullptr) {
        return known;
    }
    CUmemoryPool created = nullptr;
    const CUresult result = create(created);
    if (result != CUDA_SUCCESS) {
        return tl::unexpected(result);
    }
    if (!pool_.compare_exchange_strong(known, created)) {
        driver_.mem_pool_destroy(created);  // another thread was faster
        return known;
    }
    std::set<int> peers;
    {
        const std::lock_guard lock(mutex_);
        peers = peers_;
    }
    for (const int peer : peers) {
        allow_access(created, peer);
    }
    return created;
}

CUresult MemoryPool::create(CUmemoryPool& created) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_ordinal_};
    CUresult result = driver_.mem_pool_create(&created, &properties);
    if (result == CUDA_SUCCESS) {
        result = configure(created);
        if (result != CUDA_SUCCESS) {
            driver_.mem_pool_destroy(created);
        }
    }
    return result;
}

/// Keeps all memory until it is trimmed, and never makes the stream of allocations wait for that of
/// frees, whatever events the driver sees between them.
CUresult MemoryPool::configure(CUmemoryPool pool) {
    cuuint64_t everything = std::numeric_limits<cuuint64_t>::max();
    CUresult result =
        driver_.mem_pool_set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &everything);
    for (const CUmemPool_attribute reuse : {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
                                            CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES}) {
        int off = 0;
        if (result == CUDA_SUCCESS) {
            result = driver_.mem_pool_set_attribute(pool, reuse, &off);
        }
    }
    return result;
}

CUresult MemoryPool::allow_access(CUmemoryPool pool, int device_ordinal) {
    const CUmemAccessDesc access{
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_ordinal},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return driver_.mem_pool_set_access(pool, &access, 1);
}

tl::expected<MemoryPool::Here, CUresult> MemoryPool::here() {
    CUcontext current = nullptr;
    CUresult result = driver_.ctx_get_current(&current);
    if (result == CUDA_SUCCESS && current == nullptr) {
        result = CUDA_ERROR_INVALID_CONTEXT;
    }
    if (result != CUDA_SUCCESS) {
        return tl::unexpected(result);
    }
    const auto context = reinterpret_cast<ContextId>(current);
    {
        const std::lock_guard lock(mutex_);
        const auto known = streams_.find(context);
        if (known != streams_.end()) {
            return Here{.context = context, .streams = known->second};
        }
    }
    Streams created;
    result = create(created);
    if (result != CUDA_SUCCESS) {
        return tl::unexpected(result);
    }
    bool fresh = false;
    Streams kept;
    {
        const std::lock_guard lock(mutex_);
        const auto place = streams_.try_emplace(context, created);
        kept = place.first->second;
        fresh = place.second;
    }
    if (!fresh) {
        destroy(created);  // another thread was faster
    }
    return Here{.context = context, .streams = kept};
}

CUresult MemoryPool::create(Streams& streams) {
    CUresult result = driver_.stream_create(&streams.allocations, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = driver_.stream_create(&streams.frees, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS) {
        driver_.stream_destroy(streams.allocations);
    }
    return result;
}

void MemoryPool::destroy(const Streams& streams) {
    driver_.stream_destroy(streams.allocations);
    driver_.stream_destroy(streams.frees);
}

}  // namespace cuward
