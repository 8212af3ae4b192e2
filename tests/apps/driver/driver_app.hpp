// What the sample applications on the driver API share.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#define CHECK(call) driver_app::check((call), #call, __FILE__, __LINE__)

namespace driver_app {

inline void check(CUresult result, const char* call, const char* file, int line) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "%s:%d: %s: error %d\n", file, line, call, static_cast<int>(result));
    std::exit(1);
}

/// Makes the primary context of device 0 current and leaves it so until the process ends.
inline void use_primary_context() {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

/// A context of its own on device 0, which becomes the current one.
inline CUcontext create_context() {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&context, nullptr, 0, device));
#else
    CHECK(cuCtxCreate(&context, 0, device));
#endif
    return context;
}

/// A node of any kind; its edges have no data.
inline CUresult add_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                         std::size_t count, CUgraphNodeParams* params) {
#if CUDA_VERSION >= 13000
    return cuGraphAddNode(node, graph, dependencies, nullptr, count, params);
#else
    return cuGraphAddNode(node, graph, dependencies, count, params);
#endif
}

constexpr unsigned kCount = 1 << 16;
constexpr std::size_t kBytes = kCount * sizeof(float);

}  // namespace driver_app

using driver_app::add_node;
using driver_app::create_context;
using driver_app::kBytes;
using driver_app::kCount;
using driver_app::use_primary_context;
