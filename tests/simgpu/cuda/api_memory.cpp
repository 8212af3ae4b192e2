#include <unistd.h>

#include <cstring>

#include "body.hpp"

using namespace simgpu;

namespace {

CUresult free_device(CUdeviceptr address) {
    if (address == 0) {
        return CUDA_SUCCESS;
    }
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_TRY(forbid_in_capture(*context));
    const auto allocation = find_allocation(address);
    SIM_REQUIRE(allocation && allocation->base == address && allocation->owned() &&
                !allocation->freed);
    if (allocation->pool != nullptr) {
        // Measured: memory of a pool is given back without waiting for anything.
        pool_free(*allocation, {});
        return CUDA_SUCCESS;
    }
    synchronize_device(allocation->device);
    if (allocation->of_graph) {
        free_graph_memory(address);
        return CUDA_SUCCESS;
    }
    return release(*allocation);
}

CUresult allocate(CUdeviceptr* out, size_t bytes, MemoryKind kind) {
    SIM_REQUIRE(out != nullptr && bytes != 0);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_TRY(forbid_in_capture(*context));
    uintptr_t address = 0;
    SIM_TRY(allocate_device(*context, bytes, kind, address));
    *out = address;
    return CUDA_SUCCESS;
}

CUresult allocate_host(void** out, size_t bytes, unsigned flags) {
    SIM_REQUIRE(out != nullptr);
    *out = nullptr;
    SIM_REQUIRE(bytes != 0);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_TRY(forbid_in_capture(*context));
    uintptr_t address = 0;
    SIM_TRY(allocate_pinned(*context, bytes, flags, address));
    *out = reinterpret_cast<void*>(address);
    return CUDA_SUCCESS;
}

CUresult pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    const auto found = find_allocation(ptr);
    if (!found || found->freed || found->outlived) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const bool ordinary = found->kind == MemoryKind::Device && found->pool == nullptr;
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            // Measured: none for memory of a pool, as for what belongs to no context.
            *static_cast<CUcontext*>(data) =
                found->pool == nullptr && !found->mapped() ? found->context->handle() : nullptr;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *static_cast<unsigned*>(data) =
                found->host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            *static_cast<CUdeviceptr*>(data) = ptr;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            SIM_REQUIRE(found->kind != MemoryKind::Device);
            *static_cast<void**>(data) = reinterpret_cast<void*>(ptr);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
            *static_cast<unsigned long long*>(data) = found->id;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *static_cast<unsigned*>(data) = found->kind == MemoryKind::Managed ? 1 : 0;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *static_cast<int*>(data) = found->device;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
            *static_cast<CUdeviceptr*>(data) = found->base;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
            *static_cast<size_t*>(data) = found->size;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_MAPPED:
            *static_cast<int*>(data) = 1;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            *static_cast<int*>(data) = found->sync_memops ? 1 : 0;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
            *static_cast<int*>(data) = ordinary ? 1 : 0;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
            *static_cast<int*>(data) = 0;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            *static_cast<unsigned long long*>(data) = 0;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
            *static_cast<unsigned*>(data) = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            *static_cast<CUmemoryPool*>(data) = reinterpret_cast<CUmemoryPool>(found->pool);
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_NOT_SUPPORTED;
    }
}

// Sizes of what the plural form zeroes for an address CUDA does not know.
size_t attribute_bytes(CUpointer_attribute attribute) {
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        case CU_POINTER_ATTRIBUTE_MAPPED:
        case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
            return 4;
        default:
            return 8;
    }
}

}  // namespace

SIM_API(cuMemGetInfo, _v2, 3020, size_t*, free, size_t*, total) {
    SIM_REQUIRE(free != nullptr && total != nullptr);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    const DeviceMemory memory = device_memory(context->device());
    *free = memory.free;
    *total = memory.total;
    return CUDA_SUCCESS;
}

SIM_API(cuMemAlloc, _v2, 3020, CUdeviceptr*, dptr, size_t, bytesize) {
    return allocate(dptr, bytesize, MemoryKind::Device);
}

SIM_API(cuMemAllocManaged, , 6000, CUdeviceptr*, dptr, size_t, bytesize, unsigned int, flags) {
    SIM_REQUIRE(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST);
    return allocate(dptr, bytesize, MemoryKind::Managed);
}

SIM_API(cuMemAllocPitch, _v2, 3020, CUdeviceptr*, dptr, size_t*, pPitch, size_t, WidthInBytes,
        size_t, Height, unsigned int, ElementSizeBytes) {
    SIM_REQUIRE(pPitch != nullptr && WidthInBytes != 0 && Height != 0);
    const size_t pitch = (WidthInBytes + 511) / 512 * 512;
    SIM_TRY(allocate(dptr, pitch * Height, MemoryKind::Device));
    *pPitch = pitch;
    return CUDA_SUCCESS;
}

SIM_API(cuMemFree, _v2, 3020, CUdeviceptr, dptr) {
    return free_device(dptr);
}

SIM_API(cuMemGetAddressRange, _v2, 3020, CUdeviceptr*, pbase, size_t*, psize, CUdeviceptr, dptr) {
    const auto found = find_allocation(dptr);
    if (!found || found->freed || found->outlived) {
        return CUDA_ERROR_NOT_FOUND;
    }
    if (pbase != nullptr) {
        *pbase = found->base;
    }
    if (psize != nullptr) {
        *psize = found->size;
    }
    return CUDA_SUCCESS;
}

SIM_API(cuMemAllocHost, _v2, 3020, void**, pp, size_t, bytesize) {
    return allocate_host(pp, bytesize, 0);
}

SIM_API(cuMemHostAlloc, , 2020, void**, pp, size_t, bytesize, unsigned int, Flags) {
    return allocate_host(pp, bytesize, Flags);
}

SIM_API(cuMemFreeHost, , 2000, void*, p) {
    if (p == nullptr) {
        return CUDA_SUCCESS;
    }
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_TRY(forbid_in_capture(*context));
    const auto found = find_allocation(reinterpret_cast<uintptr_t>(p));
    SIM_REQUIRE(found && found->base == reinterpret_cast<uintptr_t>(p) &&
                found->kind == MemoryKind::Pinned);
    synchronize_device(found->device);
    return release(*found);
}

SIM_API(cuMemHostRegister, _v2, 6050, void*, p, size_t, bytesize, unsigned int, Flags) {
    SIM_REQUIRE(p != nullptr && bytesize != 0);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_TRY(forbid_in_capture(*context));
    return register_host(*context, reinterpret_cast<uintptr_t>(p), bytesize, Flags);
}

SIM_API(cuMemHostUnregister, , 4000, void*, p) {
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_TRY(forbid_in_capture(*context));
    const auto found = find_allocation(reinterpret_cast<uintptr_t>(p));
    if (!found || found->base != reinterpret_cast<uintptr_t>(p) ||
        found->kind != MemoryKind::Registered) {
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    synchronize_device(found->device);
    return release(*found);
}

SIM_API(cuMemHostGetDevicePointer, _v2, 3020, CUdeviceptr*, pdptr, void*, p, unsigned int, Flags) {
    SIM_REQUIRE(pdptr != nullptr);
    const auto found = find_allocation(reinterpret_cast<uintptr_t>(p));
    SIM_REQUIRE(found && found->host());
    *pdptr = reinterpret_cast<CUdeviceptr>(p);
    return CUDA_SUCCESS;
}

SIM_API(cuMemHostGetFlags, , 2030, unsigned int*, pFlags, void*, p) {
    SIM_REQUIRE(pFlags != nullptr);
    const auto found = find_allocation(reinterpret_cast<uintptr_t>(p));
    SIM_REQUIRE(found && found->host());
    *pFlags = found->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

SIM_API(cuPointerGetAttribute, , 4000, void*, data, CUpointer_attribute, attribute, CUdeviceptr,
        ptr) {
    SIM_REQUIRE(data != nullptr);
    SIM_TRY(initialised() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED);
    return pointer_attribute(data, attribute, ptr);
}

SIM_API(cuPointerGetAttributes, , 7000, unsigned int, numAttributes, CUpointer_attribute*,
        attributes, void**, data, CUdeviceptr, ptr) {
    SIM_REQUIRE(attributes != nullptr && data != nullptr);
    SIM_TRY(initialised() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED);
    for (unsigned index = 0; index < numAttributes; ++index) {
        // Unlike the singular form this one succeeds for ordinary host memory, with zeros.
        if (pointer_attribute(data[index], attributes[index], ptr) != CUDA_SUCCESS) {
            std::memset(data[index], 0, attribute_bytes(attributes[index]));
            if (attributes[index] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
                *static_cast<int*>(data[index]) = -2;
            }
        }
    }
    return CUDA_SUCCESS;
}

SIM_API(cuPointerSetAttribute, , 6000, const void*, value, CUpointer_attribute, attribute,
        CUdeviceptr, ptr) {
    SIM_REQUIRE(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    return set_sync_memops(ptr, *static_cast<const unsigned*>(value) != 0);
}

// Handles name the memory; opening them in another process is not simulated.
SIM_API(cuIpcGetMemHandle, , 4010, CUipcMemHandle*, pHandle, CUdeviceptr, dptr) {
    SIM_REQUIRE(pHandle != nullptr);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    const auto found = find_allocation(dptr);
    // Measured: memory of a pool has no such handle.
    SIM_REQUIRE(found && !found->freed && found->kind == MemoryKind::Device &&
                found->pool == nullptr);
    const SharedPlace place = shared_place(*found);
    std::memset(pHandle, 0, sizeof *pHandle);
    std::memcpy(pHandle->reserved, &place, sizeof place);
    return CUDA_SUCCESS;
}

SIM_API(cuIpcOpenMemHandle, _v2, 11000, CUdeviceptr*, pdptr, CUipcMemHandle, handle, unsigned int,
        Flags) {
    SIM_REQUIRE(pdptr != nullptr && Flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SharedPlace place;
    std::memcpy(&place, handle.reserved, sizeof place);
    // A process cannot open what it has itself.
    SIM_TRY(place.process == getpid() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS);
    uintptr_t address = 0;
    SIM_TRY(open_shared(*context, place, address));
    *pdptr = address;
    return CUDA_SUCCESS;
}

SIM_API(cuIpcCloseMemHandle, , 4010, CUdeviceptr, dptr) {
    const auto found = find_allocation(dptr);
    SIM_REQUIRE(found && found->base == dptr && found->kind == MemoryKind::Opened);
    synchronize_device(found->device);
    return close_shared(*found);
}

SIM_API(cuMemAdvise, _v2, 12020, CUdeviceptr, devPtr, size_t, count, CUmem_advise, advice,
        CUmemLocation, location) {
    return find_allocation(devPtr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_STREAM_API(cuMemPrefetchAsync, _v2, 12020, _ptsz, CUdeviceptr, devPtr, size_t, count,
               CUmemLocation, location, unsigned int, flags, CUstream, hStream) {
    SIM_REQUIRE(find_allocation(devPtr));
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    return submit(*stream, EmptyTask{}, call.api.delay_ns);
}

SIM_STREAM_API(cuStreamAttachMemAsync, , 6000, _ptsz, CUstream, hStream, CUdeviceptr, dptr, size_t,
               length, unsigned int, flags) {
    SIM_REQUIRE(find_allocation(dptr));
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    return submit(*stream, EmptyTask{}, call.api.delay_ns);
}
