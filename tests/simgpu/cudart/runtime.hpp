#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "../pairs.hpp"

// The simulated runtime is written against the driver's public functions only, and gets at them as
// the real one does: dlopen, dlsym of cuGetProcAddress_v2, then that for everything else. So what
// is preloaded sees the same look-ups.
namespace simrt {

struct Driver {
    bool per_thread;
// NOLINTNEXTLINE(bugprone-macro-parentheses): the last one declares a name
#define SIMRT_DRIVER_FUNCTION(base, suffix, version) decltype(&::base##suffix) base;
#include "driver_functions.inc"
#undef SIMRT_DRIVER_FUNCTION
};

// The driver's functions, the legacy default stream's or the per-thread one's; loads the driver on
// first use. Null when there is none.
const Driver* driver(bool per_thread);
decltype(&::cuGetProcAddress_v2) proc_address();

// Makes the thread's device's primary context current, unless the program has made another one so.
cudaError_t use_context(const Driver& driver);
int current_device();
void set_current_device(int device);
void forget_contexts();  // after a reset

cudaError_t remember(cudaError_t error);  // for cudaGetLastError
cudaError_t last_error(bool clear);

// The numbers are the same by design of the two interfaces.
inline cudaError_t from(CUresult result) {
    return static_cast<cudaError_t>(result);
}

// Whether a function can be called before there is a context.
enum class Needs { Driver, Context };

template <class Body>
cudaError_t run(bool per_thread, Needs needs, Body body) {
    const Driver* functions = driver(per_thread);
    if (functions == nullptr) {
        return remember(cudaErrorInsufficientDriver);
    }
    if (needs == Needs::Context) {
        const cudaError_t error = use_context(*functions);
        if (error != cudaSuccess) {
            return remember(error);
        }
    }
    return remember(body(*functions));
}

}  // namespace simrt

#define SIMRT_EXPORT extern "C" __attribute__((visibility("default")))

#define SIMRT_TRY(...)                                 \
    do {                                               \
        const cudaError_t simrt_error = (__VA_ARGS__); \
        if (simrt_error != cudaSuccess) {              \
            return simrt_error;                        \
        }                                              \
    } while (false)

#define SIMRT_REQUIRE(condition) SIMRT_TRY((condition) ? cudaSuccess : cudaErrorInvalidValue)

#define SIMRT_SYMBOL_(symbol, per_thread, needs, body, ...)                            \
    SIMRT_EXPORT cudaError_t CUDARTAPI symbol(SIM_DECL(__VA_ARGS__)) {                 \
        return ::simrt::run(per_thread, needs, [&](const ::simrt::Driver& functions) { \
            return body(functions SIM_ARGS(__VA_ARGS__));                              \
        });                                                                            \
    }

#define SIMRT_FUNCTION_(name, needs, ...)                                         \
    static cudaError_t name##_body(const ::simrt::Driver& SIM_BODY(__VA_ARGS__)); \
    SIMRT_SYMBOL_(name, false, needs, name##_body, __VA_ARGS__)                   \
    static cudaError_t name##_body([[maybe_unused]] const ::simrt::Driver& d SIM_BODY(__VA_ARGS__))

// RT_PLAIN_API(name, type, name, …) { body }: needs no context.
#define RT_PLAIN_API(name, ...) SIMRT_FUNCTION_(name, ::simrt::Needs::Driver, __VA_ARGS__)
// RT_API: the context is there when the body runs; `d` are the driver's functions.
#define RT_API(name, ...) SIMRT_FUNCTION_(name, ::simrt::Needs::Context, __VA_ARGS__)
// RT_STREAM_API(name, flavour, …): also exported with _ptsz or _ptds, on the driver's per-thread
// forms.
#define RT_STREAM_API(name, flavour, ...)                                                 \
    static cudaError_t name##_body(const ::simrt::Driver& SIM_BODY(__VA_ARGS__));         \
    SIMRT_SYMBOL_(name, false, ::simrt::Needs::Context, name##_body, __VA_ARGS__)         \
    SIMRT_SYMBOL_(name##flavour, true, ::simrt::Needs::Context, name##_body, __VA_ARGS__) \
    static cudaError_t name##_body([[maybe_unused]] const ::simrt::Driver& d SIM_BODY(__VA_ARGS__))
