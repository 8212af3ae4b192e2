#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <string>

#include "kernels.hpp"

// What the tests share.
#define ASSERT_CUDA(...) ASSERT_EQ((__VA_ARGS__), cudaSuccess)
#define EXPECT_CUDA(...) EXPECT_EQ((__VA_ARGS__), cudaSuccess)
#define ASSERT_CU(...) ASSERT_EQ((__VA_ARGS__), CUDA_SUCCESS)
#define EXPECT_CU(...) EXPECT_EQ((__VA_ARGS__), CUDA_SUCCESS)

// The typed form that cuda_runtime.h has.
template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}

namespace simtest {

// Changes what the simulated driver reads from the environment, for one scope.
class Setting {
  public:
    Setting(const char* name, const std::string& value) : name_(name) {
        setenv(name, value.c_str(), 1);
        reread();
    }
    ~Setting() {
        unsetenv(name_);
        reread();
    }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

  private:
    static void reread() {
        void* driver = dlopen("libcuda.so.1", RTLD_NOW);
        reinterpret_cast<void (*)()>(dlsym(driver, "simgpuReconfigure"))();
    }

    const char* name_;
};

// Long enough that a call that need not wait has returned on any machine.
constexpr auto long_time = std::chrono::seconds(60);
// How long a call that must wait is watched not returning. Too short only makes a test weaker.
constexpr auto short_time = std::chrono::milliseconds(20);

class Gate {
  public:
    Gate() { kernels::close_gate(); }
    ~Gate() { kernels::open_gate(); }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
};

// Whether the call returns while the gate is closed. The gate is opened before this returns.
template <class Call>
bool waits_for_gate(Call call) {
    std::future<void> done = std::async(std::launch::async, call);
    const bool waited = done.wait_for(short_time) != std::future_status::ready;
    if (waited) {
        kernels::open_gate();
    }
    done.get();
    kernels::open_gate();
    return waited;
}

// A call that must not wait gets all the time in the world to return.
template <class Call>
bool returns_at_closed_gate(Call call) {
    std::future<void> done = std::async(std::launch::async, call);
    const bool returned = done.wait_for(long_time) == std::future_status::ready;
    kernels::open_gate();
    done.get();
    return returned;
}

}  // namespace simtest
