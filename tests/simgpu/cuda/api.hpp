#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "../pairs.hpp"
#include "headers.hpp"

// One description per driver function. SIM_API and SIM_STREAM_API turn it into the exported symbol,
// the cuGetProcAddress entry and the dispatch that runs callbacks, faults and delays.
namespace simgpu {

// One exported symbol. Entries link themselves into a list when the library is loaded.
struct ApiEntry {
    const char* symbol;  // exported name, e.g. cuMemAlloc_v2
    const char* base;    // name asked of cuGetProcAddress, e.g. cuMemAlloc
    int version;         // CUDA version that introduced this form
    bool per_thread;     // the _ptsz or _ptds form
    uint32_t cbid;       // CUPTI's id
    void* address;
    // Why a call must leave the fast path: bit 0 callbacks, bit 1 fault rules.
    std::atomic<uint32_t> intercept{0};
    std::atomic<uint32_t> calls{0};  // counted only while fault rules exist
    uint64_t delay_ns = 0;           // set when the environment is read
    ApiEntry* next = nullptr;

    ApiEntry(const char* symbol_, const char* base_, int version_, bool per_thread_, uint32_t cbid_,
             void* address_);
    static ApiEntry* first();
};

inline constexpr uint32_t intercept_callback = 1;
inline constexpr uint32_t intercept_fault = 2;

// What a body knows about its call besides the arguments.
struct Call {
    const ApiEntry& api;
    bool per_thread;  // stream 0 means the per-thread default stream
};

const char* kernel_symbol(CUfunction function);

// The kernel's name, for the functions for which CUPTI fills in symbolName.
template <class Params>
const char* symbol_of(const Params& params) {
    if constexpr (requires {
                      params.f;
                      params.kernelParams;
                  }) {
        return kernel_symbol(params.f);
    } else {
        return nullptr;
    }
}

CUresult run_intercepted(ApiEntry& api, const void* params, const char* symbol,
                         CUresult (*invoke)(void*), void* closure);

template <class Params, class Body>
inline CUresult dispatch(ApiEntry& api, const Params* params, Body body) {
    if (api.intercept.load(std::memory_order_relaxed) == 0) [[likely]] {
        return body();
    }
    const char* symbol = nullptr;
    if constexpr (!std::is_void_v<Params>) {
        symbol = symbol_of(*params);
    }
    return run_intercepted(
        api, params, symbol, [](void* closure) { return (*static_cast<Body*>(closure))(); }, &body);
}

}  // namespace simgpu

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

#define SIM_ENTRY_(name, base, version, per_thread)                           \
    static ::simgpu::ApiEntry name##_entry(#name, #base, version, per_thread, \
                                           CUPTI_DRIVER_TRACE_CBID_##name,    \
                                           reinterpret_cast<void*>(&::name));

#define SIM_SYMBOL_(name, base, version, per_thread, body, ...)                          \
    SIM_ENTRY_(name, base, version, per_thread)                                          \
    SIM_EXPORT CUresult CUDAAPI name(SIM_DECL(__VA_ARGS__)) {                            \
        const name##_params params{SIM_NAMES(__VA_ARGS__)};                              \
        return ::simgpu::dispatch(name##_entry, &params, [&] {                           \
            return body(::simgpu::Call{name##_entry, per_thread} SIM_ARGS(__VA_ARGS__)); \
        });                                                                              \
    }

// SIM_API(base, suffix, version, type, name, ...) { body }: a function without default stream.
#define SIM_API(base, suffix, version, ...)                                           \
    static CUresult base##suffix##_body(const ::simgpu::Call& SIM_BODY(__VA_ARGS__)); \
    SIM_SYMBOL_(base##suffix, base, version, false, base##suffix##_body, __VA_ARGS__) \
    static CUresult base##suffix##_body(                                              \
        [[maybe_unused]] const ::simgpu::Call& call SIM_BODY(__VA_ARGS__))

// SIM_API_NO_PARAMS: CUPTI generates no struct for a function without parameters.
#define SIM_API_NO_PARAMS(base, suffix, version)                                     \
    static CUresult base##suffix##_body(const ::simgpu::Call&);                      \
    SIM_ENTRY_(base##suffix, base, version, false)                                   \
    SIM_EXPORT CUresult CUDAAPI base##suffix() {                                     \
        return ::simgpu::dispatch<void>(base##suffix##_entry, nullptr, [] {          \
            return base##suffix##_body(::simgpu::Call{base##suffix##_entry, false}); \
        });                                                                          \
    }                                                                                \
    static CUresult base##suffix##_body([[maybe_unused]] const ::simgpu::Call& call)

// SIM_STREAM_API(base, suffix, version, flavour, ...): exported twice, plain (stream 0 is the
// legacy default stream) and with _ptsz or _ptds (stream 0 is the thread's own).
#define SIM_STREAM_API(base, suffix, version, flavour, ...)                                   \
    static CUresult base##suffix##_body(const ::simgpu::Call& SIM_BODY(__VA_ARGS__));         \
    SIM_SYMBOL_(base##suffix, base, version, false, base##suffix##_body, __VA_ARGS__)         \
    SIM_SYMBOL_(base##suffix##flavour, base, version, true, base##suffix##_body, __VA_ARGS__) \
    static CUresult base##suffix##_body(                                                      \
        [[maybe_unused]] const ::simgpu::Call& call SIM_BODY(__VA_ARGS__))
