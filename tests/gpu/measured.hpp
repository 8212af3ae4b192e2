// What a driver was measured to do: which calls wait for a kernel that runs in stream A, and which
// copies are complete when their call returns. One NVIDIA H200, driver 580, CUDA 13.0. The
// simulated device has to do the same; the probe measures it anew.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace measured {

/// Ends the program when a call fails: what it was to measure has not happened.
inline void must(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "measured: %s\n", cudaGetErrorString(result));
        std::exit(2);
    }
}
inline void must(CUresult result) {
    if (result != CUDA_SUCCESS) {
        std::fprintf(stderr, "measured: error %d of the driver\n", static_cast<int>(result));
        std::exit(2);
    }
}

constexpr size_t kBytes = 4096;
/// Pageable memory that an async copy stages without waiting for its stream, and that it does not.
constexpr size_t kStagedBytes = size_t{1} << 20;
constexpr size_t kBigBytes = size_t{32} << 20;

/// Memory that starts a page, as registered memory had better.
class HostMemory {
  public:
    explicit HostMemory(size_t bytes) : memory_(std::aligned_alloc(4096, bytes)) {}
    ~HostMemory() { std::free(memory_); }
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;
    operator void*() const { return memory_; }

  private:
    void* memory_;
};

/// What the calls work on. A call that ends something leaves null; what it makes ends here.
struct Setting {
    /// Stream A is created with `flags`; `image` is a file with any module.
    Setting(unsigned flags, const char* image_file) : image(image_file) {
        must(cudaStreamCreateWithFlags(&a, flags));
        must(cudaStreamCreateWithFlags(&idle, cudaStreamNonBlocking));
        must(cudaMalloc(&device, kBytes));
        must(cudaMalloc(&other_device, kBytes));
        must(cudaMalloc(&spare_device, kBytes));
        must(cudaMalloc(&big_device, kBigBytes));
        must(cudaHostAlloc(&pinned, kBytes, 0));
        must(cudaHostAlloc(&other_pinned, kBytes, 0));
        must(cudaHostAlloc(&spare_pinned, kBytes, 0));
        must(cudaMallocManaged(&managed, kBytes, cudaMemAttachGlobal));
        must(cudaHostRegister(registered, kBytes, 0));
        const cudaChannelFormatDesc channel{32, 0, 0, 0, cudaChannelFormatKindFloat};
        must(cudaMallocArray(&array, &channel, 16, 16, 0));
        must(cudaEventCreate(&event));
        must(cudaGraphCreate(&graph, 0));
        cudaGraphNode_t node;
        must(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
        must(cudaGraphInstantiate(&exec, graph, 0));
        must(cuModuleLoad(&module, image));
        must(cudaMallocAsync(&pooled, kBytes, idle));
        must(cudaDeviceSynchronize());
    }
    ~Setting() {
        must(cudaDeviceSynchronize());
        const auto end = [](auto handle, auto how) {
            if (handle != decltype(handle){}) {
                must(how(handle));
            }
        };
        for (void* block : {device, other_device, spare_device, big_device, managed, made}) {
            end(block, cudaFree);
        }
        for (void* block : {pinned, other_pinned, spare_pinned, made_pinned}) {
            end(block, cudaFreeHost);
        }
        for (void* range : {registered_range, made_registered}) {
            end(range, cudaHostUnregister);
        }
        for (cudaArray_t owned : {array, made_array}) {
            end(owned, cudaFreeArray);
        }
        for (void* block : {pooled, made_pooled}) {
            end(block, [&](void* from_pool) { return cudaFreeAsync(from_pool, idle); });
        }
        for (CUmodule loaded : {module, made_module}) {
            end(loaded, cuModuleUnload);
        }
        must(cudaEventDestroy(event));
        must(cudaGraphExecDestroy(exec));
        must(cudaGraphDestroy(graph));
        must(cudaStreamDestroy(a));
        must(cudaStreamDestroy(idle));
    }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

    const char* image;
    cudaStream_t a = nullptr;     ///< the kernel runs in it
    cudaStream_t idle = nullptr;  ///< a non-blocking one
    void* device = nullptr;
    void* other_device = nullptr;
    void* spare_device = nullptr;
    void* big_device = nullptr;
    void* pinned = nullptr;
    void* other_pinned = nullptr;
    void* spare_pinned = nullptr;
    void* managed = nullptr;
    void* pooled = nullptr;
    HostMemory pageable{kBytes};
    HostMemory other_pageable{kBytes};
    HostMemory big_pageable{kBigBytes};
    HostMemory registered{kBytes};
    HostMemory unregistered{kBytes};
    void* registered_range = registered;
    cudaArray_t array = nullptr;
    cudaEvent_t event = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    CUmodule module = nullptr;

    void* made = nullptr;
    void* made_pinned = nullptr;
    void* made_registered = nullptr;
    void* made_pooled = nullptr;
    cudaArray_t made_array = nullptr;
    CUmodule made_module = nullptr;
    std::string answer{};  ///< of a query
};

/// A line of the table. The cells: "waits", "no", or what a query answers.
struct Wait {
    const char* call;
    const char* a_blocking;
    const char* a_non_blocking;
    std::function<void(Setting&)> make;
};

inline const std::vector<Wait>& waits() {
    using S = Setting;
    // The driver's calls need the context current, in whatever thread they are made.
    const auto use_device = [] { must(cudaFree(nullptr)); };
    const auto free_and_forget = [](void*& block) {
        must(cudaFree(std::exchange(block, nullptr)));
    };
    static const std::vector<Wait> table{
        {"cudaStreamSynchronize(0)", "waits", "no",
         [](S&) { must(cudaStreamSynchronize(nullptr)); }},
        {"cudaStreamQuery(0)", "not ready", "success",
         [](S& s) {
             s.answer = cudaStreamQuery(nullptr) == cudaSuccess ? "success" : "not ready";
             static_cast<void>(cudaGetLastError());
         }},
        {"record on stream 0, then synchronize that event", "waits", "no",
         [](S& s) {
             must(cudaEventRecord(s.event, nullptr));
             must(cudaEventSynchronize(s.event));
         }},
        {"cudaStreamSynchronize(cudaStreamPerThread)", "no", "no",
         [](S&) { must(cudaStreamSynchronize(cudaStreamPerThread)); }},
        {"cudaDeviceSynchronize", "waits", "waits", [](S&) { must(cudaDeviceSynchronize()); }},
        {"cudaMalloc", "no", "no", [](S& s) { must(cudaMalloc(&s.made, kBytes)); }},
        {"cudaMallocManaged", "no", "no",
         [](S& s) { must(cudaMallocManaged(&s.made, kBytes, cudaMemAttachGlobal)); }},
        {"cudaMallocArray", "no", "no",
         [](S& s) {
             const cudaChannelFormatDesc channel{32, 0, 0, 0, cudaChannelFormatKindFloat};
             must(cudaMallocArray(&s.made_array, &channel, 16, 16, 0));
         }},
        {"cudaHostAlloc", "no", "no", [](S& s) { must(cudaHostAlloc(&s.made_pinned, kBytes, 0)); }},
        {"cudaHostRegister", "no", "no",
         [](S& s) {
             s.made_registered = s.unregistered;
             must(cudaHostRegister(s.made_registered, kBytes, 0));
         }},
        {"cudaFree", "waits", "waits", [=](S& s) { free_and_forget(s.spare_device); }},
        {"cudaFree of managed memory", "waits", "waits", [=](S& s) { free_and_forget(s.managed); }},
        {"cudaFreeArray", "waits", "waits",
         [](S& s) { must(cudaFreeArray(std::exchange(s.array, nullptr))); }},
        {"cudaFreeHost", "waits", "waits",
         [](S& s) { must(cudaFreeHost(std::exchange(s.spare_pinned, nullptr))); }},
        {"cudaHostUnregister", "waits", "waits",
         [](S& s) { must(cudaHostUnregister(std::exchange(s.registered_range, nullptr))); }},
        {"cudaFree(NULL)", "no", "no", [](S&) { must(cudaFree(nullptr)); }},
        {"cudaMallocAsync", "no", "no",
         [](S& s) { must(cudaMallocAsync(&s.made_pooled, kBytes, s.a)); }},
        {"cudaFreeAsync", "no", "no",
         [](S& s) { must(cudaFreeAsync(std::exchange(s.pooled, nullptr), s.a)); }},
        {"cudaFree of a cudaMallocAsync pointer", "no", "no",
         [=](S& s) { free_and_forget(s.pooled); }},
        {"cudaMemPoolTrimTo", "no", "no",
         [](S&) {
             cudaMemPool_t pool;
             must(cudaDeviceGetDefaultMemPool(&pool, 0));
             must(cudaMemPoolTrimTo(pool, 0));
         }},
        {"stream create and destroy", "no", "no",
         [](S&) {
             cudaStream_t stream;
             must(cudaStreamCreate(&stream));
             must(cudaStreamDestroy(stream));
         }},
        {"event create and destroy", "no", "no",
         [](S&) {
             cudaEvent_t event;
             must(cudaEventCreate(&event));
             must(cudaEventDestroy(event));
         }},
        {"cudaMemset of device memory", "no", "no",
         [](S& s) { must(cudaMemset(s.device, 1, kBytes)); }},
        {"cudaMemsetAsync", "no", "no",
         [](S& s) { must(cudaMemsetAsync(s.device, 1, kBytes, s.a)); }},
        {"cudaMemset of pinned host memory", "waits", "no",
         [](S& s) { must(cudaMemset(s.pinned, 1, kBytes)); }},
        {"cudaMemcpy, pageable to device", "waits", "no",
         [](S& s) { must(cudaMemcpy(s.device, s.pageable, kBytes, cudaMemcpyHostToDevice)); }},
        {"cudaMemcpy, pinned to device", "waits", "no",
         [](S& s) { must(cudaMemcpy(s.device, s.pinned, kBytes, cudaMemcpyHostToDevice)); }},
        {"cudaMemcpy, device to pageable", "waits", "no",
         [](S& s) { must(cudaMemcpy(s.pageable, s.device, kBytes, cudaMemcpyDeviceToHost)); }},
        {"cudaMemcpy, device to pinned", "waits", "no",
         [](S& s) { must(cudaMemcpy(s.pinned, s.device, kBytes, cudaMemcpyDeviceToHost)); }},
        {"cudaMemcpy, pageable to pageable", "waits", "no",
         [](S& s) {
             must(cudaMemcpy(s.pageable, s.other_pageable, kBytes, cudaMemcpyHostToHost));
         }},
        {"cudaMemcpy, device to device", "no", "no",
         [](S& s) {
             must(cudaMemcpy(s.device, s.other_device, kBytes, cudaMemcpyDeviceToDevice));
         }},
        {"cudaMemcpy, device to device by cudaMemcpyDefault", "no", "no",
         [](S& s) { must(cudaMemcpy(s.device, s.other_device, kBytes, cudaMemcpyDefault)); }},
        {"cudaMemcpyAsync on A, device to pageable", "waits", "waits",
         [](S& s) {
             must(cudaMemcpyAsync(s.pageable, s.device, kBytes, cudaMemcpyDeviceToHost, s.a));
         }},
        {"cudaMemcpyAsync on A, pinned to pinned", "waits", "waits",
         [](S& s) {
             must(cudaMemcpyAsync(s.pinned, s.other_pinned, kBytes, cudaMemcpyHostToHost, s.a));
         }},
        {"cudaMemcpyAsync on A, pageable to pageable", "waits", "waits",
         [](S& s) {
             must(cudaMemcpyAsync(s.pageable, s.other_pageable, kBytes, cudaMemcpyHostToHost, s.a));
         }},
        {"cudaMemcpyAsync on A, device to pinned", "no", "no",
         [](S& s) {
             must(cudaMemcpyAsync(s.pinned, s.device, kBytes, cudaMemcpyDeviceToHost, s.a));
         }},
        {"cudaMemcpyAsync on A, pinned to device", "no", "no",
         [](S& s) {
             must(cudaMemcpyAsync(s.device, s.pinned, kBytes, cudaMemcpyHostToDevice, s.a));
         }},
        {"cudaMemcpyAsync on A, 1 MiB pageable to device", "no", "no",
         [](S& s) {
             must(cudaMemcpyAsync(s.big_device, s.big_pageable, kStagedBytes,
                                  cudaMemcpyHostToDevice, s.a));
         }},
        {"cudaMemcpyAsync on A, 32 MiB pageable to device", "waits", "waits",
         [](S& s) {
             must(cudaMemcpyAsync(s.big_device, s.big_pageable, kBigBytes, cudaMemcpyHostToDevice,
                                  s.a));
         }},
        {"host function", "no", "no",
         [](S& s) {
             must(cudaLaunchHostFunc(
                 s.a, [](void*) {}, nullptr));
         }},
        {"graph launch", "no", "no", [](S& s) { must(cudaGraphLaunch(s.exec, s.a)); }},
        {"graph instantiate and destroy", "no", "no",
         [](S& s) {
             cudaGraphExec_t exec;
             must(cudaGraphInstantiate(&exec, s.graph, 0));
             must(cudaGraphExecDestroy(exec));
         }},
        {"cudaMemGetInfo", "no", "no",
         [](S&) {
             size_t free, total;
             must(cudaMemGetInfo(&free, &total));
         }},
        {"cudaPointerGetAttributes", "no", "no",
         [](S& s) {
             cudaPointerAttributes attributes;
             must(cudaPointerGetAttributes(&attributes, s.device));
         }},
        {"cuModuleLoad", "waits", "waits",
         [=](S& s) {
             use_device();
             must(cuModuleLoad(&s.made_module, s.image));
         }},
        {"cuModuleUnload", "waits", "waits",
         [=](S& s) {
             use_device();
             must(cuModuleUnload(std::exchange(s.module, nullptr)));
         }},
    };
    return table;
}

enum class Place { Device, Managed, Pinned, Pageable };

/// A copy or memset, and whether the host knows it complete when the call returns: "yes", "no", or
/// "in practice" where the manual leaves it open.
struct Completion {
    const char* call;
    const char* known;
    Place source;  ///< of a memset: not used
    Place destination;
    /// Fills `bytes` at `destination`, on `stream` if it is of the Async form: with `value`, or
    /// from `source`.
    std::function<void(void* destination, const void* source, unsigned value, size_t bytes,
                       cudaStream_t stream)>
        make;
};

inline const std::vector<Completion>& completions() {
    const auto copy = [](void* to, const void* from, unsigned, size_t bytes, cudaStream_t) {
        must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    };
    const auto copy_async = [](void* to, const void* from, unsigned, size_t bytes,
                               cudaStream_t stream) {
        must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
    };
    const auto set = [](void* to, const void*, unsigned value, size_t bytes, cudaStream_t) {
        must(cudaMemset(to, static_cast<int>(value), bytes));
    };
    const auto set_async = [](void* to, const void*, unsigned value, size_t bytes,
                              cudaStream_t stream) {
        must(cudaMemsetAsync(to, static_cast<int>(value), bytes, stream));
    };
    static const std::vector<Completion> table{
        {"cudaMemcpy, device to pageable", "yes", Place::Device, Place::Pageable, copy},
        {"cudaMemcpy, device to pinned", "yes", Place::Device, Place::Pinned, copy},
        {"cudaMemcpy, pinned to device", "yes", Place::Pinned, Place::Device, copy},
        {"cudaMemcpy, pageable to device", "no", Place::Pageable, Place::Device, copy},
        {"cudaMemcpy, device to device", "no", Place::Device, Place::Device, copy},
        {"cudaMemcpy, pageable to pinned", "yes", Place::Pageable, Place::Pinned, copy},
        {"cudaMemcpy, pinned to pinned", "yes", Place::Pinned, Place::Pinned, copy},
        {"cudaMemset of device memory", "no", Place::Device, Place::Device, set},
        {"cudaMemset of pinned host memory", "yes", Place::Pinned, Place::Pinned, set},
        {"cudaMemcpyAsync, device to pageable", "in practice", Place::Device, Place::Pageable,
         copy_async},
        {"cudaMemcpyAsync, device to pinned", "no", Place::Device, Place::Pinned, copy_async},
        {"cudaMemcpyAsync, pinned to device", "no", Place::Pinned, Place::Device, copy_async},
        {"cudaMemcpyAsync, pageable to device", "no", Place::Pageable, Place::Device, copy_async},
        {"cudaMemcpyAsync, device to device", "no", Place::Device, Place::Device, copy_async},
        {"cudaMemcpyAsync, pinned to pinned", "in practice", Place::Pinned, Place::Pinned,
         copy_async},
        {"cudaMemsetAsync of device memory", "no", Place::Device, Place::Device, set_async},
        {"cudaMemsetAsync of pinned host memory", "no", Place::Pinned, Place::Pinned, set_async},
    };
    return table;
}

}  // namespace measured
