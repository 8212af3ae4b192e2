// What every sample application shares: checked calls, streams and events that end with their
// scope.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#define CHECK(call) app::check((call), #call, __FILE__, __LINE__)

namespace app {

inline void check(cudaError_t result, const char* call, const char* file, int line) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(result));
    std::exit(1);
}

class Stream {
  public:
    explicit Stream(unsigned flags = cudaStreamNonBlocking) {
        CHECK(cudaStreamCreateWithFlags(&handle_, flags));
    }
    ~Stream() { CHECK(cudaStreamDestroy(handle_)); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return handle_; }

  private:
    cudaStream_t handle_ = nullptr;
};

class Event {
  public:
    Event() { CHECK(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming)); }
    ~Event() { CHECK(cudaEventDestroy(handle_)); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    operator cudaEvent_t() const { return handle_; }

  private:
    cudaEvent_t handle_ = nullptr;
};

/// Makes all later work of `later` wait for all work queued on `earlier` so far.
inline void order(cudaStream_t earlier, cudaStream_t later) {
    Event reached;
    CHECK(cudaEventRecord(reached, earlier));
    CHECK(cudaStreamWaitEvent(later, reached, 0));
}

/// The proper end of a program: everything has run, every block is freed. Returns main's status.
inline int finish(std::initializer_list<void*> device_blocks = {},
                  std::initializer_list<void*> pinned_blocks = {}) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (void* block : device_blocks) CHECK(cudaFree(block));
    for (void* block : pinned_blocks) CHECK(cudaFreeHost(block));
    std::puts("done");
    return 0;
}

constexpr int kCount = 1 << 16;
constexpr std::size_t kBytes = kCount * sizeof(float);

}  // namespace app

using app::Event;
using app::finish;
using app::kBytes;
using app::kCount;
using app::order;
using app::Stream;
