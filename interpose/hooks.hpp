// The hooks as functions of this library and as values: declarations and look-ups made from
// the table of the driver API.
#pragma once

#include <cudaTypedefs.h>

#include <array>
#include <cstdint>
#include <type_traits>

// NVIDIA's header has the types of superseded versions for NVIDIA's own use only; in these the
// version changed what a call means, not how it is called.
using PFN_cuCtxDestroy_v2000 = PFN_cuCtxDestroy_v4000;
using PFN_cuIpcOpenMemHandle_v4010 = PFN_cuIpcOpenMemHandle_v11000;
using PFN_cuMemHostRegister_v4000 = PFN_cuMemHostRegister_v6050;
using PFN_cuDevicePrimaryCtxRelease_v7000 = PFN_cuDevicePrimaryCtxRelease_v11000;
using PFN_cuDevicePrimaryCtxReset_v7000 = PFN_cuDevicePrimaryCtxReset_v11000;

// Named apart from what they export, as <cuda.h> renames most driver functions by macros.
#define HOOK(symbol, base, since, streams)                                                         \
    extern "C" __attribute__((visibility("default"))) std::remove_pointer_t<PFN_##base##_v##since> \
        hook_##symbol __asm__(#symbol);
#include "driver_api/hooks.inc"
#undef HOOK

namespace cuward {

enum class Hook : std::uint8_t {
#define HOOK(symbol, base, since, streams) symbol##_,
#include "driver_api/hooks.inc"
#undef HOOK
};

inline constexpr std::array kHooks{
#define HOOK(symbol, base, since, streams) Hook::symbol##_,
#include "driver_api/hooks.inc"
#undef HOOK
};

/// The driver function behind a hook, as a pointer type.
template <Hook>
struct HookedFunction;
#define HOOK(symbol, base, since, streams)   \
    template <>                              \
    struct HookedFunction<Hook::symbol##_> { \
        using Type = PFN_##base##_v##since;  \
    };
#include "driver_api/hooks.inc"
#undef HOOK

/// The name the driver exports.
const char* symbol_of(Hook hook);

/// The address of the hook in this library.
void* address_of(Hook hook);

/// Finds a hook by exported name; false when there is none.
bool find_hook(const char* symbol, Hook& hook);

/// Finds the hook of what cuGetProcAddress gives for a request; false when there is none.
bool find_hook(const char* base, int cuda_version, bool per_thread_default_stream, Hook& hook);

}  // namespace cuward
