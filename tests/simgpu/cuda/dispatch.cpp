#include <mutex>

#include "../handle.hpp"
#include "api.hpp"
#include "callbacks.hpp"
#include "config.hpp"
#include "context.hpp"
#include "faults.hpp"

namespace simgpu {
namespace {

ApiEntry* first_entry = nullptr;

struct Subscriber {
    CUpti_CallbackFunc callback;
    void* userdata;
};

// Subscribers are replaced, never freed: a call on another thread may still be using the old one.
std::atomic<const Subscriber*> subscriber{nullptr};
std::atomic<bool> resource_enabled[CUPTI_CBID_RESOURCE_SIZE];
std::atomic<uint32_t> next_correlation{1};

void set_subscriber(CUpti_CallbackFunc callback, void* userdata) {
    subscriber.store(callback != nullptr ? new_handle<Subscriber>(callback, userdata) : nullptr,
                     std::memory_order_release);
}

void set_driver_callback(uint32_t cbid, bool on) {
    for (ApiEntry* entry = first_entry; entry != nullptr; entry = entry->next) {
        if (entry->cbid == cbid) {
            if (on) {
                entry->intercept.fetch_or(intercept_callback);
            } else {
                entry->intercept.fetch_and(~intercept_callback);
            }
        }
    }
}

void set_resource_callback(uint32_t cbid, bool on) {
    if (cbid < CUPTI_CBID_RESOURCE_SIZE) {
        resource_enabled[cbid].store(on);
    }
}

bool bridge_context_id(CUcontext handle, uint32_t* id) {
    const Context* context = handle != nullptr ? Context::from(handle) : current_context();
    if (context == nullptr) {
        return false;
    }
    *id = context->uid();
    return true;
}

bool bridge_stream_id(CUcontext handle, CUstream stream, bool per_thread, uint32_t* id) {
    Context* context = handle != nullptr ? Context::from(handle) : current_context();
    if (context == nullptr) {
        return false;
    }
    Stream* found = nullptr;
    if (resolve_stream(*context, stream, per_thread, found) != CUDA_SUCCESS) {
        return false;
    }
    *id = static_cast<uint32_t>(found->id());
    return true;
}

bool bridge_device_id(CUcontext handle, uint32_t* id) {
    const Context* context = handle != nullptr ? Context::from(handle) : current_context();
    if (context == nullptr) {
        return false;
    }
    *id = static_cast<uint32_t>(context->device());
    return true;
}

constexpr CuptiBridge bridge{set_subscriber,    set_driver_callback, set_resource_callback,
                             bridge_context_id, bridge_stream_id,    bridge_device_id};

}  // namespace

ApiEntry::ApiEntry(const char* symbol_, const char* base_, int version_, bool per_thread_,
                   uint32_t cbid_, void* address_)
    : symbol(symbol_),
      base(base_),
      version(version_),
      per_thread(per_thread_),
      cbid(cbid_),
      address(address_),
      next(first_entry) {
    first_entry = this;
    configure(*this);
}

ApiEntry* ApiEntry::first() {
    return first_entry;
}

CUresult run_intercepted(ApiEntry& api, const void* params, const char* symbol,
                         CUresult (*invoke)(void*), void* closure) {
    const uint32_t why = api.intercept.load(std::memory_order_relaxed);
    const Subscriber* listener =
        (why & intercept_callback) != 0 ? subscriber.load(std::memory_order_acquire) : nullptr;
    CUresult result = CUDA_SUCCESS;
    uint64_t correlation_data = 0;
    CUpti_CallbackData data{};
    if (listener != nullptr) {
        const Context* context = current_context();
        data.callbackSite = CUPTI_API_ENTER;
        data.functionName = api.symbol;
        data.functionParams = params;
        data.functionReturnValue = &result;
        data.symbolName = symbol;
        data.context = context != nullptr ? context->handle() : nullptr;
        data.contextUid = context != nullptr ? context->uid() : 0;
        data.correlationData = &correlation_data;
        data.correlationId = next_correlation.fetch_add(1, std::memory_order_relaxed);
        listener->callback(listener->userdata, CUPTI_CB_DOMAIN_DRIVER_API, api.cbid, &data);
    }
    std::optional<CUresult> fault;
    if ((why & intercept_fault) != 0) {
        fault = next_fault(api);
    }
    result = fault ? *fault : invoke(closure);
    // A subscriber that went away during the call gets no exit, as with the real library.
    if (listener != nullptr && subscriber.load(std::memory_order_acquire) == listener) {
        const Context* context = current_context();
        data.callbackSite = CUPTI_API_EXIT;
        data.context = context != nullptr ? context->handle() : nullptr;
        data.contextUid = context != nullptr ? context->uid() : 0;
        listener->callback(listener->userdata, CUPTI_CB_DOMAIN_DRIVER_API, api.cbid, &data);
    }
    return result;
}

bool resource_callback_enabled(uint32_t cbid) {
    return resource_enabled[cbid].load(std::memory_order_relaxed) &&
           subscriber.load(std::memory_order_acquire) != nullptr;
}

void notify_resource(uint32_t cbid, CUcontext context, CUstream stream, void* descriptor) {
    const Subscriber* listener = subscriber.load(std::memory_order_acquire);
    if (listener == nullptr || !resource_enabled[cbid].load(std::memory_order_relaxed)) {
        return;
    }
    CUpti_ResourceData data{};
    data.context = context;
    data.resourceHandle.stream = stream;
    data.resourceDescriptor = descriptor;
    listener->callback(listener->userdata, CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

SIM_EXPORT const CuptiBridge* simgpuCuptiBridge() {
    return &bridge;
}

}  // namespace simgpu
