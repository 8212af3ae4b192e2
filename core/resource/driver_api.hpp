// The part of the CUDA driver that resources call, as a table of functions that somebody hands in.
#pragma once

#include <cuda.h>

#include <functional>
#include <vector>

namespace cuward {

/// Driver functions under their CUDA names. Core links no driver: the hooks fill the table with the
/// driver's own functions, tests with scripted ones. Entry points are the ones in which handle 0 is
/// the legacy stream; resources name the default streams by their explicit handles anyway.
struct DriverApi {
    decltype(&::cuDeviceGet) device_get = nullptr;
    decltype(&::cuDeviceGetAttribute) device_get_attribute = nullptr;
    decltype(&::cuCtxGetCurrent) ctx_get_current = nullptr;
    decltype(&::cuCtxPushCurrent_v2) ctx_push_current = nullptr;
    decltype(&::cuCtxPopCurrent_v2) ctx_pop_current = nullptr;
    CUresult(CUDAAPI* ctx_synchronize)() = nullptr;  ///< cuCtxSynchronize of the current context
    decltype(&::cuStreamGetCtx) stream_get_ctx = nullptr;
    decltype(&::cuStreamCreate) stream_create = nullptr;
    decltype(&::cuStreamDestroy_v2) stream_destroy = nullptr;
    decltype(&::cuStreamSynchronize) stream_synchronize = nullptr;
    decltype(&::cuStreamWaitEvent) stream_wait_event = nullptr;
    decltype(&::cuEventCreate) event_create = nullptr;
    decltype(&::cuEventRecord) event_record = nullptr;
    decltype(&::cuEventQuery) event_query = nullptr;
    decltype(&::cuEventDestroy_v2) event_destroy = nullptr;
    decltype(&::cuMemAlloc_v2) mem_alloc = nullptr;
    decltype(&::cuMemFree_v2) mem_free = nullptr;
    decltype(&::cuMemHostAlloc) mem_host_alloc = nullptr;
    decltype(&::cuMemFreeHost) mem_free_host = nullptr;
    decltype(&::cuMemsetD8Async) memset_d8_async = nullptr;
    decltype(&::cuModuleLoadData) module_load_data = nullptr;
    decltype(&::cuModuleGetFunction) module_get_function = nullptr;
    decltype(&::cuModuleUnload) module_unload = nullptr;
    decltype(&::cuLaunchKernel) launch_kernel = nullptr;
    decltype(&::cuMemAllocAsync) mem_alloc_async = nullptr;  ///< null before CUDA 11.2
    decltype(&::cuMemFreeAsync) mem_free_async = nullptr;    ///< null before CUDA 11.2

    // Null before CUDA 11.2.
    decltype(&::cuMemPoolCreate) mem_pool_create = nullptr;
    decltype(&::cuMemPoolDestroy) mem_pool_destroy = nullptr;
    decltype(&::cuMemPoolGetAttribute) mem_pool_get_attribute = nullptr;
    decltype(&::cuMemPoolSetAttribute) mem_pool_set_attribute = nullptr;
    decltype(&::cuMemPoolSetAccess) mem_pool_set_access = nullptr;
    decltype(&::cuMemPoolTrimTo) mem_pool_trim_to = nullptr;
    decltype(&::cuMemAllocFromPoolAsync) mem_alloc_from_pool_async = nullptr;

    /// Whether the driver has all functions of memory pools.
    bool has_memory_pools() const;
};

/// Gives the address of a driver function by name, or null.
using DriverResolver = std::function<void*(const char* name)>;

struct LoadedDriver {
    DriverApi api;
    std::vector<const char*> missing;  ///< required functions that were not found
};

LoadedDriver load_driver_api(const DriverResolver& resolve);

}  // namespace cuward
