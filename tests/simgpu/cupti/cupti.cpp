#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <mutex>

#include "../cuda/callbacks.hpp"
#include "../newer_function.hpp"

// CUPTI's callback interface over the simulated driver. One subscriber at a time, as in the real
// library since CUDA 13: the second is refused.

struct CUpti_Subscriber_st {
    CUpti_CallbackFunc callback;
    void* userdata;
};

namespace {

using simgpu::CuptiBridge;

#define CUPTI_SIM_EXPORT extern "C" __attribute__((visibility("default")))

struct CallbackName {
    uint32_t cbid;
    const char* name;
};

constexpr CallbackName names[] = {
#include "simgpu_cbids.inc"
    {simgpu::newer_function, "cuSimgpuNewer"},
};

constexpr uint32_t driver_cbids = simgpu::newer_function + 1;
constexpr uint32_t resource_cbids = CUPTI_CBID_RESOURCE_SIZE;

struct State {
    std::mutex mutex;
    CUpti_SubscriberHandle subscriber = nullptr;
    bool driver[driver_cbids] = {};
    bool resource[resource_cbids] = {};
};

State& state() {
    static State& instance = *new State;
    return instance;
}

// The driver is looked for when first needed, and again until it is there: a program may load CUDA
// long after CUPTI.
const CuptiBridge* bridge() {
    static std::atomic<const CuptiBridge*> found{nullptr};
    if (found.load(std::memory_order_acquire) == nullptr) {
        void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (driver == nullptr) {
            return nullptr;
        }
        const auto get =
            reinterpret_cast<simgpu::BridgeFunction>(dlsym(driver, simgpu::bridge_symbol));
        if (get == nullptr) {
            return nullptr;
        }
        found.store(get(), std::memory_order_release);
    }
    return found.load(std::memory_order_acquire);
}

CUptiResult enable(uint32_t on, CUpti_CallbackDomain domain, uint32_t cbid) {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        if (cbid == CUPTI_DRIVER_TRACE_CBID_INVALID || cbid >= driver_cbids) {
            return CUPTI_ERROR_INVALID_PARAMETER;
        }
        state().driver[cbid] = on != 0;
        bridge()->set_driver_callback(cbid, on != 0);
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        if (cbid == CUPTI_CBID_RESOURCE_INVALID || cbid >= resource_cbids) {
            return CUPTI_ERROR_INVALID_PARAMETER;
        }
        state().resource[cbid] = on != 0;
        bridge()->set_resource_callback(cbid, on != 0);
    } else if (domain <= CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    // The other domains exist and never fire.
    return CUPTI_SUCCESS;
}

CUptiResult enable_domain(uint32_t on, CUpti_CallbackDomain domain) {
    const uint32_t count = domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver_cbids
                           : domain == CUPTI_CB_DOMAIN_RESOURCE ? resource_cbids
                                                                : 2;
    for (uint32_t cbid = 1; cbid < count; ++cbid) {
        const CUptiResult result = enable(on, domain, cbid);
        if (result != CUPTI_SUCCESS) {
            return result;
        }
    }
    return CUPTI_SUCCESS;
}

CUptiResult require(CUpti_SubscriberHandle subscriber) {
    return subscriber != nullptr && subscriber == state().subscriber && bridge() != nullptr
               ? CUPTI_SUCCESS
               : CUPTI_ERROR_INVALID_PARAMETER;
}

void disable_everything() {
    for (uint32_t cbid = 1; cbid < driver_cbids; ++cbid) {
        if (state().driver[cbid]) {
            enable(0, CUPTI_CB_DOMAIN_DRIVER_API, cbid);
        }
    }
    for (uint32_t cbid = 1; cbid < resource_cbids; ++cbid) {
        if (state().resource[cbid]) {
            enable(0, CUPTI_CB_DOMAIN_RESOURCE, cbid);
        }
    }
}

constexpr const char* resource_names[] = {
    "INVALID",        "CONTEXT_CREATED",         "CONTEXT_DESTROY_STARTING",
    "STREAM_CREATED", "STREAM_DESTROY_STARTING", "CU_INIT_FINISHED",
    "MODULE_LOADED",  "MODULE_UNLOAD_STARTING",
};

struct ResultText {
    CUptiResult result;
    const char* text;
};

constexpr ResultText result_texts[] = {
    {CUPTI_SUCCESS, "CUPTI_SUCCESS"},
    {CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
    {CUPTI_ERROR_INVALID_DEVICE, "CUPTI_ERROR_INVALID_DEVICE"},
    {CUPTI_ERROR_INVALID_CONTEXT, "CUPTI_ERROR_INVALID_CONTEXT"},
    {CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION"},
    {CUPTI_ERROR_OUT_OF_MEMORY, "CUPTI_ERROR_OUT_OF_MEMORY"},
    {CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
    {CUPTI_ERROR_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE"},
    {CUPTI_ERROR_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
     "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN"},
};

}  // namespace

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
    if (version == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                                                     CUpti_CallbackFunc callback, void* userdata) {
    if (subscriber == nullptr || callback == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    const std::lock_guard lock(state().mutex);
    if (state().subscriber != nullptr) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    if (bridge() == nullptr) {
        return CUPTI_ERROR_NOT_INITIALIZED;
    }
    state().subscriber = new CUpti_Subscriber_st{callback, userdata};
    bridge()->set_subscriber(callback, userdata);
    *subscriber = state().subscriber;
    return CUPTI_SUCCESS;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
    const std::lock_guard lock(state().mutex);
    const CUptiResult result = require(subscriber);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    disable_everything();
    bridge()->set_subscriber(nullptr, nullptr);
    delete state().subscriber;
    state().subscriber = nullptr;
    return CUPTI_SUCCESS;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiFinalize() {
    const std::lock_guard lock(state().mutex);
    if (state().subscriber != nullptr) {
        disable_everything();
        bridge()->set_subscriber(nullptr, nullptr);
        delete state().subscriber;
        state().subscriber = nullptr;
    }
    return CUPTI_SUCCESS;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t on,
                                                          CUpti_SubscriberHandle subscriber,
                                                          CUpti_CallbackDomain domain,
                                                          CUpti_CallbackId cbid) {
    const std::lock_guard lock(state().mutex);
    const CUptiResult result = require(subscriber);
    return result == CUPTI_SUCCESS ? enable(on, domain, cbid) : result;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t on,
                                                        CUpti_SubscriberHandle subscriber,
                                                        CUpti_CallbackDomain domain) {
    const std::lock_guard lock(state().mutex);
    const CUptiResult result = require(subscriber);
    return result == CUPTI_SUCCESS ? enable_domain(on, domain) : result;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiEnableAllDomains(uint32_t on,
                                                            CUpti_SubscriberHandle subscriber) {
    const std::lock_guard lock(state().mutex);
    CUptiResult result = require(subscriber);
    for (const CUpti_CallbackDomain domain :
         {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE}) {
        if (result == CUPTI_SUCCESS) {
            result = enable_domain(on, domain);
        }
    }
    return result;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t* on,
                                                            CUpti_SubscriberHandle subscriber,
                                                            CUpti_CallbackDomain domain,
                                                            CUpti_CallbackId cbid) {
    const std::lock_guard lock(state().mutex);
    const CUptiResult result = require(subscriber);
    if (result != CUPTI_SUCCESS || on == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *on = (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid < driver_cbids && state().driver[cbid]) ||
                  (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid < resource_cbids &&
                   state().resource[cbid])
              ? 1
              : 0;
    return CUPTI_SUCCESS;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiSupportedDomains(size_t* count,
                                                            CUpti_DomainTable* table) {
    static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE};
    if (count == nullptr || table == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *count = 2;
    *table = domains;
    return CUPTI_SUCCESS;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain,
                                                           uint32_t cbid, const char** name) {
    if (name == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        for (const CallbackName& known : names) {
            if (known.cbid == cbid) {
                *name = known.name;
                return CUPTI_SUCCESS;
            }
        }
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid < std::size(resource_names)) {
        *name = resource_names[cbid];
        return CUPTI_SUCCESS;
    }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
    if (text == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    for (const ResultText& known : result_texts) {
        if (known.result == result) {
            *text = known.text;
            return CUPTI_SUCCESS;
        }
    }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* timestamp) {
    if (timestamp == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    *timestamp =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
    return CUPTI_SUCCESS;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t* id) {
    if (id == nullptr || bridge() == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return bridge()->context_id(context, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t* id) {
    if (id == nullptr || bridge() == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return bridge()->device_id(context, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiGetStreamId(CUcontext context, CUstream stream,
                                                       uint32_t* id) {
    return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUPTI_SIM_EXPORT CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream stream,
                                                         uint8_t per_thread, uint32_t* id) {
    if (id == nullptr || bridge() == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return bridge()->stream_id(context, stream, per_thread != 0, id) ? CUPTI_SUCCESS
                                                                     : CUPTI_ERROR_INVALID_STREAM;
}
