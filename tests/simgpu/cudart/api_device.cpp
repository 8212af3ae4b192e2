#include <cstring>

#include "runtime.hpp"

using simrt::from;

namespace {

void fill_properties(const simrt::Driver& d, cudaDeviceProp& prop, int device) {
    const auto get = [&](CUdevice_attribute attribute) {
        int value = 0;
        d.cuDeviceGetAttribute(&value, attribute, device);
        return value;
    };
    prop = {};
    d.cuDeviceGetName(prop.name, sizeof prop.name, device);
    d.cuDeviceGetUuid(&prop.uuid, device);
    d.cuDeviceTotalMem(&prop.totalGlobalMem, device);
    prop.sharedMemPerBlock =
        static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
    prop.regsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    prop.warpSize = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    prop.memPitch = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_PITCH));
    prop.maxThreadsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    prop.maxThreadsDim[0] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    prop.maxThreadsDim[1] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    prop.maxThreadsDim[2] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    prop.maxGridSize[0] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    prop.maxGridSize[1] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    prop.maxGridSize[2] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    prop.totalConstMem = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY));
    prop.major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    prop.minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    prop.textureAlignment = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
    prop.texturePitchAlignment =
        static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT));
    prop.surfaceAlignment = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT));
    prop.multiProcessorCount = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    prop.canMapHostMemory = get(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
    prop.concurrentKernels = get(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
    prop.pciBusID = get(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    prop.pciDeviceID = get(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
    prop.asyncEngineCount = get(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
    prop.unifiedAddressing = get(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    prop.memoryBusWidth = get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    prop.l2CacheSize = get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    prop.maxThreadsPerMultiProcessor = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    prop.maxBlocksPerMultiProcessor = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    prop.streamPrioritiesSupported = get(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
    prop.globalL1CacheSupported = get(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
    prop.localL1CacheSupported = get(CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
    prop.sharedMemPerMultiprocessor =
        static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
    prop.sharedMemPerBlockOptin =
        static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    prop.reservedSharedMemPerBlock =
        static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
    prop.regsPerMultiprocessor = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    prop.managedMemory = get(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
    prop.concurrentManagedAccess = get(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    prop.computePreemptionSupported = get(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
    prop.canUseHostPointerForRegisteredMem =
        get(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
    prop.cooperativeLaunch = get(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
    prop.hostRegisterSupported = get(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
    prop.memoryPoolsSupported = get(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
    prop.unifiedFunctionPointers = get(CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS);
    prop.hostNumaId = get(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
}

cudaError_t require_device(const simrt::Driver& d, int device) {
    CUdevice found = 0;
    return from(d.cuDeviceGet(&found, device));
}

}  // namespace

RT_PLAIN_API(cudaGetDeviceCount, int*, count) {
    SIMRT_REQUIRE(count != nullptr);
    return from(d.cuDeviceGetCount(count));
}

RT_PLAIN_API(cudaGetDevice, int*, device) {
    SIMRT_REQUIRE(device != nullptr);
    *device = simrt::current_device();
    return cudaSuccess;
}

RT_PLAIN_API(cudaSetDevice, int, device) {
    SIMRT_TRY(require_device(d, device));
    simrt::set_current_device(device);
    // Since CUDA 12 this call creates the context.
    return simrt::use_context(d);
}

RT_PLAIN_API(cudaInitDevice, int, device, unsigned int, deviceFlags, unsigned int, flags) {
    SIMRT_TRY(require_device(d, device));
    return cudaSuccess;
}

RT_PLAIN_API(cudaSetDeviceFlags, unsigned int, flags) {
    return from(d.cuDevicePrimaryCtxSetFlags(simrt::current_device(), flags));
}

RT_PLAIN_API(cudaGetDeviceFlags, unsigned int*, flags) {
    SIMRT_REQUIRE(flags != nullptr);
    int active = 0;
    return from(d.cuDevicePrimaryCtxGetState(simrt::current_device(), flags, &active));
}

RT_PLAIN_API(cudaSetValidDevices, int*, device_arr, int, len) {
    return cudaSuccess;
}

RT_PLAIN_API(cudaChooseDevice, int*, device, const struct cudaDeviceProp*, prop) {
    SIMRT_REQUIRE(device != nullptr && prop != nullptr);
    *device = 0;
    return cudaSuccess;
}

RT_PLAIN_API(cudaGetDeviceProperties, struct cudaDeviceProp*, prop, int, device) {
    SIMRT_REQUIRE(prop != nullptr);
    SIMRT_TRY(require_device(d, device));
    fill_properties(d, *prop, device);
    return cudaSuccess;
}

// The driver's and the runtime's attribute numbers are the same.
RT_PLAIN_API(cudaDeviceGetAttribute, int*, value, enum cudaDeviceAttr, attr, int, device) {
    SIMRT_REQUIRE(value != nullptr);
    return from(d.cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attr), device));
}

RT_PLAIN_API(cudaDeviceGetPCIBusId, char*, pciBusId, int, len, int, device) {
    return from(d.cuDeviceGetPCIBusId(pciBusId, len, device));
}

RT_PLAIN_API(cudaDeviceGetByPCIBusId, int*, device, const char*, pciBusId) {
    return from(d.cuDeviceGetByPCIBusId(device, pciBusId));
}

RT_PLAIN_API(cudaDeviceCanAccessPeer, int*, canAccessPeer, int, device, int, peerDevice) {
    return from(d.cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
}

RT_API(cudaDeviceEnablePeerAccess, int, peerDevice, unsigned int, flags) {
    CUcontext peer = nullptr;
    SIMRT_TRY(from(d.cuDevicePrimaryCtxRetain(&peer, peerDevice)));
    return from(d.cuCtxEnablePeerAccess(peer, flags));
}

RT_API(cudaDeviceDisablePeerAccess, int, peerDevice) {
    CUcontext peer = nullptr;
    SIMRT_TRY(from(d.cuDevicePrimaryCtxRetain(&peer, peerDevice)));
    return from(d.cuCtxDisablePeerAccess(peer));
}

RT_API(cudaDeviceSynchronize) {
    return from(d.cuCtxSynchronize());
}

RT_PLAIN_API(cudaDeviceReset) {
    const CUresult result = d.cuDevicePrimaryCtxReset(simrt::current_device());
    simrt::forget_contexts();
    return from(result);
}

RT_API(cudaDeviceSetLimit, enum cudaLimit, limit, size_t, value) {
    return from(d.cuCtxSetLimit(static_cast<CUlimit>(limit), value));
}

RT_API(cudaDeviceGetLimit, size_t*, pValue, enum cudaLimit, limit) {
    return from(d.cuCtxGetLimit(pValue, static_cast<CUlimit>(limit)));
}

RT_API(cudaDeviceGetCacheConfig, enum cudaFuncCache*, pCacheConfig) {
    SIMRT_REQUIRE(pCacheConfig != nullptr);
    *pCacheConfig = cudaFuncCachePreferNone;
    return cudaSuccess;
}

RT_API(cudaDeviceSetCacheConfig, enum cudaFuncCache, cacheConfig) {
    return cudaSuccess;
}

RT_API(cudaDeviceGetStreamPriorityRange, int*, leastPriority, int*, greatestPriority) {
    return from(d.cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

RT_PLAIN_API(cudaDriverGetVersion, int*, driverVersion) {
    return from(d.cuDriverGetVersion(driverVersion));
}

RT_PLAIN_API(cudaRuntimeGetVersion, int*, runtimeVersion) {
    SIMRT_REQUIRE(runtimeVersion != nullptr);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

SIMRT_EXPORT cudaError_t CUDARTAPI cudaGetLastError() {
    return simrt::last_error(true);
}

SIMRT_EXPORT cudaError_t CUDARTAPI cudaPeekAtLastError() {
    return simrt::last_error(false);
}

SIMRT_EXPORT const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
    const simrt::Driver* d = simrt::driver(false);
    const char* text = nullptr;
    if (error == cudaErrorInsufficientDriver) {
        return "CUDA driver version is insufficient for CUDA runtime version";
    }
    if (d == nullptr || d->cuGetErrorString(static_cast<CUresult>(error), &text) != CUDA_SUCCESS) {
        return "unrecognized error code";
    }
    return text;
}

SIMRT_EXPORT const char* CUDARTAPI cudaGetErrorName(cudaError_t error) {
#define SIMRT_ERROR_NAME(name) \
    case name:                 \
        return #name;
    switch (error) {
#include "simrt_errors.inc"
        default:
            return "unrecognized error code";
    }
}

RT_STREAM_API(cudaGetDriverEntryPointByVersion, _ptsz, const char*, symbol, void**, funcPtr,
              unsigned int, cudaVersion, unsigned long long, flags,
              enum cudaDriverEntryPointQueryResult*, driverStatus) {
    SIMRT_REQUIRE(symbol != nullptr && funcPtr != nullptr);
    cuuint64_t wanted = flags;
    if (wanted == cudaEnableDefault) {
        wanted = d.per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                              : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    }
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    SIMRT_TRY(from(
        simrt::proc_address()(symbol, funcPtr, static_cast<int>(cudaVersion), wanted, &status)));
    if (driverStatus != nullptr) {
        *driverStatus = static_cast<cudaDriverEntryPointQueryResult>(status);
    }
    return cudaSuccess;
}
