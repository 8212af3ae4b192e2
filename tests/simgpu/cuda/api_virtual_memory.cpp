#include <unistd.h>

#include "body.hpp"
#include "virtual_memory.hpp"

using namespace simgpu;

namespace {

CUresult require_physical(CUmemGenericAllocationHandle handle, Physical*& physical) {
    physical = find_physical(handle);
    return physical != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUmemGenericAllocationHandle handle_of(Physical& physical) {
    return reinterpret_cast<CUmemGenericAllocationHandle>(&physical);
}

}  // namespace

SIM_API(cuMemGetAllocationGranularity, , 10020, size_t*, granularity, const CUmemAllocationProp*,
        prop, CUmemAllocationGranularity_flags, option) {
    SIM_REQUIRE(granularity != nullptr && prop != nullptr);
    (void)option;
    *granularity = mapping_granularity;
    return CUDA_SUCCESS;
}

SIM_API(cuMemAddressReserve, , 10020, CUdeviceptr*, ptr, size_t, size, size_t, alignment,
        CUdeviceptr, addr, unsigned long long, flags) {
    SIM_REQUIRE(ptr != nullptr && flags == 0);
    (void)addr;  // a hint
    uintptr_t address = 0;
    SIM_TRY(reserve_addresses(size, alignment, address));
    *ptr = address;
    return CUDA_SUCCESS;
}

SIM_API(cuMemAddressFree, , 10020, CUdeviceptr, ptr, size_t, size) {
    return free_addresses(ptr, size);
}

SIM_API(cuMemCreate, , 10020, CUmemGenericAllocationHandle*, handle, size_t, size,
        const CUmemAllocationProp*, prop, unsigned long long, flags) {
    SIM_REQUIRE(handle != nullptr && prop != nullptr && flags == 0);
    SIM_REQUIRE(prop->type == CU_MEM_ALLOCATION_TYPE_PINNED);
    if (prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        SIM_TRY(require_device(prop->location.id));
    }
    Physical* physical = nullptr;
    SIM_TRY(create_physical(size, *prop, physical));
    *handle = handle_of(*physical);
    return CUDA_SUCCESS;
}

SIM_API(cuMemRelease, , 10020, CUmemGenericAllocationHandle, handle) {
    Physical* physical = nullptr;
    SIM_TRY(require_physical(handle, physical));
    return release_physical(*physical);
}

SIM_API(cuMemRetainAllocationHandle, , 11000, CUmemGenericAllocationHandle*, handle, void*, addr) {
    SIM_REQUIRE(handle != nullptr);
    Physical* const physical = physical_at(reinterpret_cast<uintptr_t>(addr));
    SIM_REQUIRE(physical != nullptr && physical->references > 0);
    ++physical->references;
    *handle = handle_of(*physical);
    return CUDA_SUCCESS;
}

SIM_API(cuMemMap, , 10020, CUdeviceptr, ptr, size_t, size, size_t, offset,
        CUmemGenericAllocationHandle, handle, unsigned long long, flags) {
    SIM_REQUIRE(flags == 0);
    Physical* physical = nullptr;
    SIM_TRY(require_physical(handle, physical));
    return map(ptr, size, offset, *physical);
}

SIM_API(cuMemUnmap, , 10020, CUdeviceptr, ptr, size_t, size) {
    return unmap(ptr, size);
}

SIM_API(cuMemSetAccess, , 10020, CUdeviceptr, ptr, size_t, size, const CUmemAccessDesc*, desc,
        size_t, count) {
    SIM_REQUIRE(desc != nullptr && count != 0);
    for (size_t index = 0; index < count; ++index) {
        SIM_TRY(set_access(ptr, size, desc[index].flags));
    }
    return CUDA_SUCCESS;
}

SIM_API(cuMemGetAccess, , 10020, unsigned long long*, flags, const CUmemLocation*, location,
        CUdeviceptr, ptr) {
    SIM_REQUIRE(flags != nullptr && location != nullptr && physical_at(ptr) != nullptr);
    *flags = access_of(ptr);
    return CUDA_SUCCESS;
}

SIM_API(cuMemGetAllocationPropertiesFromHandle, , 10020, CUmemAllocationProp*, prop,
        CUmemGenericAllocationHandle, handle) {
    SIM_REQUIRE(prop != nullptr);
    Physical* physical = nullptr;
    SIM_TRY(require_physical(handle, physical));
    *prop = physical->properties;
    return CUDA_SUCCESS;
}

SIM_API(cuMemExportToShareableHandle, , 10020, void*, shareableHandle, CUmemGenericAllocationHandle,
        handle, CUmemAllocationHandleType, handleType, unsigned long long, flags) {
    SIM_REQUIRE(shareableHandle != nullptr && flags == 0);
    SIM_REQUIRE(handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    Physical* physical = nullptr;
    SIM_TRY(require_physical(handle, physical));
    SIM_REQUIRE((physical->properties.requestedHandleTypes & handleType) != 0);
    *static_cast<int*>(shareableHandle) = dup(physical->file);
    return CUDA_SUCCESS;
}

SIM_API(cuMemImportFromShareableHandle, , 10020, CUmemGenericAllocationHandle*, handle, void*,
        osHandle, CUmemAllocationHandleType, shHandleType) {
    SIM_REQUIRE(handle != nullptr && shHandleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    Physical* physical = nullptr;
    SIM_TRY(import_physical(static_cast<int>(reinterpret_cast<intptr_t>(osHandle)), physical));
    *handle = handle_of(*physical);
    return CUDA_SUCCESS;
}
