#include <algorithm>

#include "body.hpp"

using namespace simgpu;

namespace {

Pool* pool_of(CUmemoryPool handle) {
    return reinterpret_cast<Pool*>(handle);
}
CUmemoryPool handle_of(Pool& pool) {
    return reinterpret_cast<CUmemoryPool>(&pool);
}

struct ReleaseWork final : Work {
    explicit ReleaseWork(const Allocation& allocation_) : allocation(allocation_) {}
    void run() override { release(allocation); }
    Allocation allocation;
};

CUresult allocate_ordered(CUdeviceptr* out, size_t bytes, Pool* pool, CUstream handle,
                          const Call& call) {
    SIM_REQUIRE(out != nullptr && bytes != 0);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(handle, call.per_thread, stream));
    Context& context = stream->context();
    if (stream->capture != nullptr) {
        AllocTask task;
        SIM_TRY(GraphMemory::create(context, bytes, task.memory));
        *out = task.memory->address();
        return submit(*stream, std::move(task), 0);
    }
    Pool& from = pool != nullptr ? *pool : current_pool(context.device());
    uintptr_t address = 0;
    SIM_TRY(pool_allocate(from, context, bytes, stream, address));
    *out = address;
    return submit(*stream, EmptyTask{}, delay_of("alloc") + call.api.delay_ns);
}

}  // namespace

SIM_STREAM_API(cuMemAllocAsync, , 11020, _ptsz, CUdeviceptr*, dptr, size_t, bytesize, CUstream,
               hStream) {
    return allocate_ordered(dptr, bytesize, nullptr, hStream, call);
}

SIM_STREAM_API(cuMemAllocFromPoolAsync, , 11020, _ptsz, CUdeviceptr*, dptr, size_t, bytesize,
               CUmemoryPool, pool, CUstream, hStream) {
    SIM_REQUIRE(pool != nullptr);
    return allocate_ordered(dptr, bytesize, pool_of(pool), hStream, call);
}

SIM_STREAM_API(cuMemFreeAsync, , 11020, _ptsz, CUdeviceptr, dptr, CUstream, hStream) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    const auto allocation = find_allocation(dptr);
    SIM_REQUIRE(allocation && allocation->base == dptr && !allocation->host() &&
                allocation->kind == MemoryKind::Device);
    if (stream->capture != nullptr) {
        SIM_REQUIRE(allocation->of_graph);
        return submit(*stream, FreeTask{dptr}, 0);
    }
    SIM_REQUIRE(!allocation->freed);
    const uint64_t delay_ns = delay_of("free") + call.api.delay_ns;
    if (allocation->pool != nullptr) {
        Point point;
        SIM_TRY(submit(*stream, EmptyTask{}, delay_ns, &point));
        pool_free(*allocation, point);
        return CUDA_SUCCESS;
    }
    if (allocation->of_graph) {
        free_graph_memory(dptr);
        return submit(*stream, EmptyTask{}, delay_ns);
    }
    // Ordinary memory may be freed this way too; it has no pool to go back to.
    SIM_TRY(check_legacy_capture(*stream));
    mark_freed(*allocation);
    Operation operation;
    operation.duration_ns = delay_ns;
    operation.work = std::make_unique<ReleaseWork>(*allocation);
    stream->issue(std::move(operation));
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolCreate, , 11020, CUmemoryPool*, pool, const CUmemPoolProps*, poolProps) {
    SIM_REQUIRE(pool != nullptr && poolProps != nullptr);
    SIM_REQUIRE(poolProps->allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
    SIM_TRY(require_device(poolProps->location.id));
    auto* created = new_handle<Pool>();
    created->device = poolProps->location.id;
    *pool = handle_of(*created);
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolDestroy, , 11020, CUmemoryPool, pool) {
    SIM_REQUIRE(pool != nullptr && !pool_of(pool)->is_default && !pool_of(pool)->destroyed);
    pool_destroy(*pool_of(pool));
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolTrimTo, , 11020, CUmemoryPool, pool, size_t, minBytesToKeep) {
    SIM_REQUIRE(pool != nullptr);
    pool_trim(*pool_of(pool), minBytesToKeep);
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolSetAttribute, , 11020, CUmemoryPool, pool, CUmemPool_attribute, attr, void*,
        value) {
    SIM_REQUIRE(pool != nullptr && value != nullptr);
    Pool& target = *pool_of(pool);
    const std::lock_guard lock(memory_mutex());
    switch (attr) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            target.reuse[attr - 1] = *static_cast<const int*>(value);
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            target.release_threshold = *static_cast<const cuuint64_t*>(value);
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
            target.reserved_high = target.reserved;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            target.used_high = target.used;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

SIM_API(cuMemPoolGetAttribute, , 11020, CUmemoryPool, pool, CUmemPool_attribute, attr, void*,
        value) {
    SIM_REQUIRE(pool != nullptr && value != nullptr);
    const Pool& source = *pool_of(pool);
    const std::lock_guard lock(memory_mutex());
    auto& number = *static_cast<cuuint64_t*>(value);
    switch (attr) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            *static_cast<int*>(value) = source.reuse[attr - 1];
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            number = source.release_threshold;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
            number = source.reserved;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
            number = source.reserved_high;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
            number = source.used;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            number = source.used_high;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

SIM_API(cuMemPoolSetAccess, , 11020, CUmemoryPool, pool, const CUmemAccessDesc*, map, size_t,
        count) {
    SIM_REQUIRE(pool != nullptr && (map != nullptr || count == 0));
    Pool& target = *pool_of(pool);
    for (size_t index = 0; index < count; ++index) {
        const int device = map[index].location.id;
        SIM_REQUIRE(map[index].location.type == CU_MEM_LOCATION_TYPE_DEVICE);
        SIM_TRY(require_device(device));
        const bool on = map[index].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        // The device of the pool itself always has access.
        SIM_REQUIRE(on || device != target.device);
        const std::lock_guard lock(memory_mutex());
        if (on) {
            target.peers.insert(device);
        } else {
            target.peers.erase(device);
        }
    }
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolGetAccess, , 11020, CUmemAccess_flags*, flags, CUmemoryPool, memPool,
        CUmemLocation*, location) {
    SIM_REQUIRE(flags != nullptr && memPool != nullptr && location != nullptr);
    const Pool& source = *pool_of(memPool);
    const std::lock_guard lock(memory_mutex());
    *flags = location->id == source.device || source.peers.contains(location->id)
                 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                 : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetDefaultMemPool, , 11020, CUmemoryPool*, pool_out, CUdevice, dev) {
    SIM_REQUIRE(pool_out != nullptr);
    SIM_TRY(require_device(dev));
    *pool_out = handle_of(default_pool(dev));
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetMemPool, , 11020, CUmemoryPool*, pool, CUdevice, dev) {
    SIM_REQUIRE(pool != nullptr);
    SIM_TRY(require_device(dev));
    *pool = handle_of(current_pool(dev));
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceSetMemPool, , 11020, CUdevice, dev, CUmemoryPool, pool) {
    SIM_REQUIRE(pool != nullptr);
    SIM_TRY(require_device(dev));
    set_current_pool(dev, pool_of(pool));
    return CUDA_SUCCESS;
}
