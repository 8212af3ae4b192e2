#pragma once

#include "../handle.hpp"
#include "api.hpp"
#include "capture.hpp"
#include "config.hpp"
#include "context.hpp"
#include "event.hpp"
#include "graph.hpp"
#include "memory.hpp"
#include "module.hpp"
#include "tasks.hpp"

// What nearly every function body needs.
#define SIM_TRY(...)                               \
    do {                                           \
        const CUresult sim_result = (__VA_ARGS__); \
        if (sim_result != CUDA_SUCCESS) {          \
            return sim_result;                     \
        }                                          \
    } while (false)

#define SIM_REQUIRE(condition) SIM_TRY((condition) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)

namespace simgpu {

inline bool valid_device(CUdevice device) {
    return device >= 0 && device < config().devices;
}

inline CUresult require_device(CUdevice device) {
    if (!initialised()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    return valid_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace simgpu
