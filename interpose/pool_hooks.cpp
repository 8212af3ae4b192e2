// What a program could tell pool memory from ordinary memory by, and what a pool has to be told.
#include <atomic>

#include "core/log/log.hpp"
#include "interpose/driver_library.hpp"
#include "interpose/guarded_memory.hpp"
#include "interpose/pool_memory.hpp"

namespace cuward {
namespace {

/// The tool, if it has pools.
Tool* pooling() {
    Tool* const tool = watching();
    return tool != nullptr && tool->session.settings().backend == Backend::Async ? tool : nullptr;
}

/// Answers as for memory of cuMemAlloc: allocated in a context, and from no pool.
void correct(ContextId context, CUpointer_attribute attribute, void* data) {
    if (attribute == CU_POINTER_ATTRIBUTE_CONTEXT) {
        *static_cast<CUcontext*>(data) = reinterpret_cast<CUcontext>(context);
    } else if (attribute == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) {
        *static_cast<CUmemoryPool*>(data) = nullptr;
    }
}

template <typename Correct>
void for_pool_memory(CUresult result, CUdeviceptr ptr, Correct correct_all) {
    Tool* const tool = result == CUDA_SUCCESS ? pooling() : nullptr;
    if (tool != nullptr) {
        guarded([&] {
            if (const auto context = tool->session.tracker().pool_context(ptr)) {
                correct_all(*context);
            }
        });
    }
}

/// A program that shares memory with other processes gets memory that can be shared from now on.
void serve_directly(Tool& tool) {
    for (int device = 0; device < tool.driver.device_count(); ++device) {
        if (AsyncCudaResource* const pool = pool_of(tool, device)) {
            pool->serve_directly();
        }
    }
}

void say_why_not_shared() {
    static std::atomic<bool> said{false};
    if (!said.exchange(true)) {
        say("cudaIpcGetMemHandle: this block was allocated from a pool, whose memory cannot be "
            "shared with other processes; run with --backend direct");
    }
}

/// Another process would find the block's front edge where it expects the block.
bool starts_behind_an_edge(CUdeviceptr ptr) noexcept {
    Tool* const tool = watching();
    if (tool == nullptr || !tool->session.settings().guard_front || !find_guarded(ptr)) {
        return false;
    }
    static std::atomic<bool> said{false};
    if (!said.exchange(true)) {
        guarded([] {
            say("cudaIpcGetMemHandle: memory with a guarded front cannot be shared with other "
                "processes; set CUWARD_GUARD_FRONT=0 to guard its end alone");
        });
    }
    return true;
}

}  // namespace
}  // namespace cuward

CUresult hook_cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    using namespace cuward;
    const CUresult result = real<Hook::cuPointerGetAttribute_>()(data, attribute, ptr);
    for_pool_memory(result, ptr, [&](ContextId context) { correct(context, attribute, data); });
    const auto block = result == CUDA_SUCCESS ? find_guarded(ptr) : std::nullopt;
    if (block) {
        correct_range(*block, attribute, data);
    }
    return result;
}

CUresult hook_cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes,
                                     void** data, CUdeviceptr ptr) {
    using namespace cuward;
    const CUresult result = real<Hook::cuPointerGetAttributes_>()(count, attributes, data, ptr);
    for_pool_memory(result, ptr, [&](ContextId context) {
        for (unsigned int i = 0; i < count; ++i) {
            correct(context, attributes[i], data[i]);
        }
    });
    const auto block = result == CUDA_SUCCESS ? find_guarded(ptr) : std::nullopt;
    for (unsigned int i = 0; block && i < count; ++i) {
        correct_range(*block, attributes[i], data[i]);
    }
    return result;
}

CUresult hook_cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr ptr) {
    using namespace cuward;
    if (starts_behind_an_edge(ptr)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    const CUresult result = real<Hook::cuIpcGetMemHandle_>()(handle, ptr);
    if (Tool* const tool = pooling()) {
        guarded([&] {
            serve_directly(*tool);
            if (result != CUDA_SUCCESS && tool->session.tracker().pool_context(ptr)) {
                say_why_not_shared();
            }
        });
    }
    return result;
}

CUresult hook_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    using namespace cuward;
    const CUresult result = real<Hook::cuCtxEnablePeerAccess_>()(peer, flags);
    Tool* const tool = result == CUDA_SUCCESS ? pooling() : nullptr;
    if (tool != nullptr) {
        guarded([&] {
            const auto here = tool->driver.current();
            const auto owner = tool->driver.device_of(peer);
            AsyncCudaResource* const pool = owner ? pool_of(*tool, owner->device) : nullptr;
            if (here && pool != nullptr) {
                pool->allow_access_from(here->device);
            }
        });
    }
    return result;
}
