#include "core/resource/driver_api.hpp"

namespace cuward {
namespace {

template <typename Function>
void optional(Function& slot, const char* name, const DriverResolver& resolve) {
    slot = reinterpret_cast<Function>(resolve(name));
}

template <typename Function>
void required(Function& slot, const char* name, const DriverResolver& resolve,
              std::vector<const char*>& missing) {
    optional(slot, name, resolve);
    if (slot == nullptr) {
        missing.push_back(name);
    }
}

}  // namespace

bool DriverApi::has_memory_pools() const {
    return mem_pool_create != nullptr && mem_pool_destroy != nullptr &&
           mem_pool_get_attribute != nullptr && mem_pool_set_attribute != nullptr &&
           mem_pool_set_access != nullptr && mem_pool_trim_to != nullptr &&
           mem_alloc_from_pool_async != nullptr && mem_free_async != nullptr;
}

LoadedDriver load_driver_api(const DriverResolver& resolve) {
    LoadedDriver loaded;
    DriverApi& api = loaded.api;
    const auto need = [&](auto& slot, const char* name) {
        required(slot, name, resolve, loaded.missing);
    };
    need(api.device_get, "cuDeviceGet");
    need(api.device_get_attribute, "cuDeviceGetAttribute");
    need(api.ctx_get_current, "cuCtxGetCurrent");
    need(api.ctx_push_current, "cuCtxPushCurrent_v2");
    need(api.ctx_pop_current, "cuCtxPopCurrent_v2");
    need(api.ctx_synchronize, "cuCtxSynchronize");
    need(api.stream_get_ctx, "cuStreamGetCtx");
    need(api.stream_create, "cuStreamCreate");
    need(api.stream_destroy, "cuStreamDestroy_v2");
    need(api.stream_synchronize, "cuStreamSynchronize");
    need(api.stream_wait_event, "cuStreamWaitEvent");
    need(api.event_create, "cuEventCreate");
    need(api.event_record, "cuEventRecord");
    need(api.event_query, "cuEventQuery");
    need(api.event_destroy, "cuEventDestroy_v2");
    need(api.mem_alloc, "cuMemAlloc_v2");
    need(api.mem_free, "cuMemFree_v2");
    need(api.mem_host_alloc, "cuMemHostAlloc");
    need(api.mem_free_host, "cuMemFreeHost");
    need(api.memset_d8_async, "cuMemsetD8Async");
    need(api.module_load_data, "cuModuleLoadData");
    need(api.module_get_function, "cuModuleGetFunction");
    need(api.module_unload, "cuModuleUnload");
    need(api.launch_kernel, "cuLaunchKernel");
    optional(api.mem_alloc_async, "cuMemAllocAsync", resolve);
    optional(api.mem_free_async, "cuMemFreeAsync", resolve);
    optional(api.mem_pool_create, "cuMemPoolCreate", resolve);
    optional(api.mem_pool_destroy, "cuMemPoolDestroy", resolve);
    optional(api.mem_pool_get_attribute, "cuMemPoolGetAttribute", resolve);
    optional(api.mem_pool_set_attribute, "cuMemPoolSetAttribute", resolve);
    optional(api.mem_pool_set_access, "cuMemPoolSetAccess", resolve);
    optional(api.mem_pool_trim_to, "cuMemPoolTrimTo", resolve);
    optional(api.mem_alloc_from_pool_async, "cuMemAllocFromPoolAsync", resolve);
    return loaded;
}

}  // namespace cuward
