#pragma once

// A host twin: what a kernel does, in plain C++, for runs on the simulated device.
//
//     __global__ void saxpy(int n, float a, const float* x, float* y) { … }
//     SIMGPU_TWIN(saxpy, [](const simgpu::Launch&, int n, float a, const float* x, float* y) {
//         for (int i = 0; i < n; ++i) y[i] += a * x[i];
//     });
//
// The twin is called once per launch, on the stream's thread, with the launch's own parameters. A
// template kernel goes in parentheses: SIMGPU_TWIN((scale<float, 4>), …); an overloaded one is
// cast. On a real GPU nothing looks for the registration, and the twin is an unused function.
//
// Kernels without a host symbol (driver API, other people's libraries) get a twin by exporting
//     extern "C" void simgpu_twin_<mangled kernel name>(const simgpu::Launch* launch);
// from the program (linked with -rdynamic) or from a library named in SIMGPU_TWINS.

#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace simgpu {

struct Dim {
    unsigned x, y, z;
};

struct Launch {
    Dim grid;
    Dim block;
    std::size_t shared_bytes;
    const void* const* parameters;  // one address per parameter
    std::size_t parameter_count;

    std::size_t blocks() const { return std::size_t{grid.x} * grid.y * grid.z; }
    std::size_t threads() const { return blocks() * block.x * block.y * block.z; }

    template <class T>
    T parameter(std::size_t index) const {
        // The parameter buffer is packed by the machine code's layout; a copy needs no alignment.
        std::remove_cv_t<T> value;
        std::memcpy(static_cast<void*>(&value), parameters[index], sizeof value);
        return value;
    }
};

using Twin = void (*)(const Launch*);

struct TwinRegistration {
    // A lambda without captures has no state, so a copy kept in a static is the lambda.
    template <class Function, class... Parameters>
    TwinRegistration(void (*kernel)(Parameters...), Function function) {
        kept<Function>(&function);
        using Register = void (*)(const void*, Twin);
        const auto register_twin =
            reinterpret_cast<Register>(dlsym(RTLD_DEFAULT, "simgpuRegisterTwin"));
        if (register_twin != nullptr) {
            register_twin(reinterpret_cast<const void*>(kernel), &run<Function, Parameters...>);
        }
    }

  private:
    template <class Function>
    static const Function& kept(const Function* function) {
        static const Function instance = *function;
        return instance;
    }

    template <class Function, class... Parameters>
    static void run(const Launch* launch) {
        call<Function, Parameters...>(*launch, std::index_sequence_for<Parameters...>{});
    }

    template <class Function, class... Parameters, std::size_t... Index>
    static void call(const Launch& launch, std::index_sequence<Index...>) {
        static_cast<void>(launch);
        kept<Function>(nullptr)(launch, launch.parameter<Parameters>(Index)...);
    }
};

}  // namespace simgpu

#define SIMGPU_TWIN_JOIN_(a, b) a##b
#define SIMGPU_TWIN_NAME_(n) SIMGPU_TWIN_JOIN_(simgpu_twin_registration_, n)
#define SIMGPU_TWIN(kernel, ...) \
    static const ::simgpu::TwinRegistration SIMGPU_TWIN_NAME_(__COUNTER__)(kernel, __VA_ARGS__)
