#include <cstdint>
#include <cstring>

#include "convert.hpp"
#include "registry.hpp"
#include "runtime.hpp"

using simrt::from;

namespace {

CUdeviceptr device(const void* pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace

RT_API(cudaMalloc, void**, devPtr, size_t, size) {
    SIMRT_REQUIRE(devPtr != nullptr);
    *devPtr = nullptr;
    if (size == 0) {
        return cudaSuccess;
    }
    return from(d.cuMemAlloc(reinterpret_cast<CUdeviceptr*>(devPtr), size));
}

RT_API(cudaMallocManaged, void**, devPtr, size_t, size, unsigned int, flags) {
    SIMRT_REQUIRE(devPtr != nullptr && size != 0);
    return from(d.cuMemAllocManaged(reinterpret_cast<CUdeviceptr*>(devPtr), size, flags));
}

RT_API(cudaMallocHost, void**, ptr, size_t, size) {
    SIMRT_REQUIRE(ptr != nullptr);
    *ptr = nullptr;
    return size == 0 ? cudaSuccess : from(d.cuMemHostAlloc(ptr, size, 0));
}

RT_API(cudaHostAlloc, void**, pHost, size_t, size, unsigned int, flags) {
    SIMRT_REQUIRE(pHost != nullptr);
    *pHost = nullptr;
    return size == 0 ? cudaSuccess : from(d.cuMemHostAlloc(pHost, size, flags));
}

RT_API(cudaMallocPitch, void**, devPtr, size_t*, pitch, size_t, width, size_t, height) {
    SIMRT_REQUIRE(devPtr != nullptr && pitch != nullptr);
    *devPtr = nullptr;
    if (width == 0 || height == 0) {
        return cudaSuccess;
    }
    return from(d.cuMemAllocPitch(reinterpret_cast<CUdeviceptr*>(devPtr), pitch, width, height, 4));
}

RT_API(cudaMalloc3D, struct cudaPitchedPtr*, pitchedDevPtr, struct cudaExtent, extent) {
    SIMRT_REQUIRE(pitchedDevPtr != nullptr);
    CUdeviceptr address = 0;
    size_t pitch = 0;
    SIMRT_TRY(
        from(d.cuMemAllocPitch(&address, &pitch, extent.width, extent.height * extent.depth, 4)));
    pitchedDevPtr->ptr = reinterpret_cast<void*>(address);
    pitchedDevPtr->pitch = pitch;
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return cudaSuccess;
}

RT_API(cudaFree, void*, devPtr) {
    return devPtr == nullptr ? cudaSuccess : from(d.cuMemFree(device(devPtr)));
}

RT_API(cudaFreeHost, void*, ptr) {
    return ptr == nullptr ? cudaSuccess : from(d.cuMemFreeHost(ptr));
}

RT_API(cudaHostRegister, void*, ptr, size_t, size, unsigned int, flags) {
    return from(d.cuMemHostRegister(ptr, size, flags));
}

RT_API(cudaHostUnregister, void*, ptr) {
    return from(d.cuMemHostUnregister(ptr));
}

RT_API(cudaHostGetDevicePointer, void**, pDevice, void*, pHost, unsigned int, flags) {
    return from(d.cuMemHostGetDevicePointer(reinterpret_cast<CUdeviceptr*>(pDevice), pHost, flags));
}

RT_API(cudaHostGetFlags, unsigned int*, pFlags, void*, pHost) {
    return from(d.cuMemHostGetFlags(pFlags, pHost));
}

RT_API(cudaMemGetInfo, size_t*, free, size_t*, total) {
    return from(d.cuMemGetInfo(free, total));
}

RT_API(cudaPointerGetAttributes, struct cudaPointerAttributes*, attributes, const void*, ptr) {
    SIMRT_REQUIRE(attributes != nullptr);
    unsigned type = 0;
    CUdeviceptr on_device = 0;
    void* on_host = nullptr;
    unsigned managed = 0;
    int ordinal = 0;
    CUpointer_attribute asked[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void* answers[] = {&type, &on_device, &on_host, &managed, &ordinal};
    SIMRT_TRY(from(d.cuPointerGetAttributes(5, asked, answers, device(ptr))));
    *attributes = {};
    attributes->type = managed != 0                   ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                       : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                                      : cudaMemoryTypeUnregistered;
    attributes->device = ordinal;
    attributes->devicePointer = reinterpret_cast<void*>(on_device);
    attributes->hostPointer =
        attributes->type == cudaMemoryTypeUnregistered ? const_cast<void*>(ptr) : on_host;
    return cudaSuccess;
}

RT_API(cudaIpcGetMemHandle, cudaIpcMemHandle_t*, handle, void*, devPtr) {
    static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle));
    return from(d.cuIpcGetMemHandle(reinterpret_cast<CUipcMemHandle*>(handle), device(devPtr)));
}

RT_API(cudaIpcOpenMemHandle, void**, devPtr, cudaIpcMemHandle_t, handle, unsigned int, flags) {
    CUipcMemHandle same;
    std::memcpy(&same, &handle, sizeof same);
    return from(d.cuIpcOpenMemHandle(reinterpret_cast<CUdeviceptr*>(devPtr), same, flags));
}

RT_API(cudaIpcCloseMemHandle, void*, devPtr) {
    return from(d.cuIpcCloseMemHandle(device(devPtr)));
}

RT_API(cudaMemAdvise, const void*, devPtr, size_t, count, enum cudaMemoryAdvise, advice,
       struct cudaMemLocation, location) {
    CUmemLocation place{};
    place.type = static_cast<CUmemLocationType>(location.type);
    place.id = location.id;
    return from(d.cuMemAdvise(device(devPtr), count, static_cast<CUmem_advise>(advice), place));
}

RT_STREAM_API(cudaMemPrefetchAsync, _ptsz, const void*, devPtr, size_t, count,
              struct cudaMemLocation, location, unsigned int, flags, cudaStream_t, stream) {
    CUmemLocation place{};
    place.type = static_cast<CUmemLocationType>(location.type);
    place.id = location.id;
    return from(d.cuMemPrefetchAsync(device(devPtr), count, place, flags, stream));
}

RT_STREAM_API(cudaMallocAsync, _ptsz, void**, devPtr, size_t, size, cudaStream_t, hStream) {
    SIMRT_REQUIRE(devPtr != nullptr);
    *devPtr = nullptr;
    if (size == 0) {
        return cudaSuccess;
    }
    return from(d.cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(devPtr), size, hStream));
}

RT_STREAM_API(cudaMallocFromPoolAsync, _ptsz, void**, ptr, size_t, size, cudaMemPool_t, memPool,
              cudaStream_t, stream) {
    SIMRT_REQUIRE(ptr != nullptr);
    return from(
        d.cuMemAllocFromPoolAsync(reinterpret_cast<CUdeviceptr*>(ptr), size, memPool, stream));
}

RT_STREAM_API(cudaFreeAsync, _ptsz, void*, devPtr, cudaStream_t, hStream) {
    return devPtr == nullptr ? cudaSuccess : from(d.cuMemFreeAsync(device(devPtr), hStream));
}

RT_API(cudaMemPoolCreate, cudaMemPool_t*, memPool, const struct cudaMemPoolProps*, poolProps) {
    SIMRT_REQUIRE(memPool != nullptr && poolProps != nullptr);
    CUmemPoolProps props{};
    props.allocType = static_cast<CUmemAllocationType>(poolProps->allocType);
    props.handleTypes = static_cast<CUmemAllocationHandleType>(poolProps->handleTypes);
    props.location.type = static_cast<CUmemLocationType>(poolProps->location.type);
    props.location.id = poolProps->location.id;
    props.maxSize = poolProps->maxSize;
    return from(d.cuMemPoolCreate(memPool, &props));
}

RT_API(cudaMemPoolDestroy, cudaMemPool_t, memPool) {
    return from(d.cuMemPoolDestroy(memPool));
}

RT_API(cudaMemPoolTrimTo, cudaMemPool_t, memPool, size_t, minBytesToKeep) {
    return from(d.cuMemPoolTrimTo(memPool, minBytesToKeep));
}

RT_API(cudaMemPoolSetAttribute, cudaMemPool_t, memPool, enum cudaMemPoolAttr, attr, void*, value) {
    return from(d.cuMemPoolSetAttribute(memPool, static_cast<CUmemPool_attribute>(attr), value));
}

RT_API(cudaMemPoolGetAttribute, cudaMemPool_t, memPool, enum cudaMemPoolAttr, attr, void*, value) {
    return from(d.cuMemPoolGetAttribute(memPool, static_cast<CUmemPool_attribute>(attr), value));
}

RT_API(cudaMemPoolSetAccess, cudaMemPool_t, memPool, const struct cudaMemAccessDesc*, descList,
       size_t, count) {
    return from(
        d.cuMemPoolSetAccess(memPool, reinterpret_cast<const CUmemAccessDesc*>(descList), count));
}

RT_API(cudaMemPoolGetAccess, enum cudaMemAccessFlags*, flags, cudaMemPool_t, memPool,
       struct cudaMemLocation*, location) {
    return from(d.cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), memPool,
                                     reinterpret_cast<CUmemLocation*>(location)));
}

RT_PLAIN_API(cudaDeviceGetDefaultMemPool, cudaMemPool_t*, memPool, int, device) {
    return from(d.cuDeviceGetDefaultMemPool(memPool, device));
}

RT_PLAIN_API(cudaDeviceGetMemPool, cudaMemPool_t*, memPool, int, device) {
    return from(d.cuDeviceGetMemPool(memPool, device));
}

RT_PLAIN_API(cudaDeviceSetMemPool, int, device, cudaMemPool_t, memPool) {
    return from(d.cuDeviceSetMemPool(device, memPool));
}

RT_API(cudaMallocArray, cudaArray_t*, array, const struct cudaChannelFormatDesc*, desc, size_t,
       width, size_t, height, unsigned int, flags) {
    SIMRT_REQUIRE(array != nullptr && desc != nullptr);
    return simrt::make_array(d, array, *desc, {width, height, 0}, flags);
}

RT_API(cudaMalloc3DArray, cudaArray_t*, array, const struct cudaChannelFormatDesc*, desc,
       struct cudaExtent, extent, unsigned int, flags) {
    SIMRT_REQUIRE(array != nullptr && desc != nullptr);
    return simrt::make_array(d, array, *desc, extent, flags);
}

RT_API(cudaFreeArray, cudaArray_t, array) {
    return array == nullptr ? cudaSuccess
                            : from(d.cuArrayDestroy(reinterpret_cast<CUarray>(array)));
}

RT_API(cudaMallocMipmappedArray, cudaMipmappedArray_t*, mipmappedArray,
       const struct cudaChannelFormatDesc*, desc, struct cudaExtent, extent, unsigned int,
       numLevels, unsigned int, flags) {
    SIMRT_REQUIRE(mipmappedArray != nullptr && desc != nullptr);
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = simrt::array_descriptor(*desc, extent, flags);
    return from(d.cuMipmappedArrayCreate(reinterpret_cast<CUmipmappedArray*>(mipmappedArray),
                                         &descriptor, numLevels));
}

RT_API(cudaGetMipmappedArrayLevel, cudaArray_t*, levelArray, cudaMipmappedArray_const_t,
       mipmappedArray, unsigned int, level) {
    auto* mipmapped =
        reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray*>(mipmappedArray));
    return from(
        d.cuMipmappedArrayGetLevel(reinterpret_cast<CUarray*>(levelArray), mipmapped, level));
}

RT_API(cudaFreeMipmappedArray, cudaMipmappedArray_t, mipmappedArray) {
    return mipmappedArray == nullptr ? cudaSuccess
                                     : from(d.cuMipmappedArrayDestroy(
                                           reinterpret_cast<CUmipmappedArray>(mipmappedArray)));
}

RT_API(cudaArrayGetInfo, struct cudaChannelFormatDesc*, desc, struct cudaExtent*, extent,
       unsigned int*, flags, cudaArray_t, array) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    SIMRT_TRY(from(d.cuArray3DGetDescriptor(&descriptor, reinterpret_cast<CUarray>(array))));
    if (desc != nullptr) {
        *desc = simrt::channel_of(descriptor);
    }
    if (extent != nullptr) {
        *extent = {descriptor.Width, descriptor.Height, descriptor.Depth};
    }
    if (flags != nullptr) {
        *flags = descriptor.Flags;
    }
    return cudaSuccess;
}

RT_API(cudaGetChannelDesc, struct cudaChannelFormatDesc*, desc, cudaArray_const_t, array) {
    SIMRT_REQUIRE(desc != nullptr);
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    SIMRT_TRY(from(d.cuArray3DGetDescriptor(
        &descriptor, reinterpret_cast<CUarray>(const_cast<cudaArray*>(array)))));
    *desc = simrt::channel_of(descriptor);
    return cudaSuccess;
}

SIMRT_EXPORT cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                   cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}

RT_API(cudaGetSymbolAddress, void**, devPtr, const void*, symbol) {
    SIMRT_REQUIRE(devPtr != nullptr);
    simrt::Symbol found;
    SIMRT_TRY(simrt::symbol_of(d, symbol, found));
    *devPtr = reinterpret_cast<void*>(found.address);
    return cudaSuccess;
}

RT_API(cudaGetSymbolSize, size_t*, size, const void*, symbol) {
    SIMRT_REQUIRE(size != nullptr);
    simrt::Symbol found;
    SIMRT_TRY(simrt::symbol_of(d, symbol, found));
    *size = found.size;
    return cudaSuccess;
}
