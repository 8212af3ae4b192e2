// What decoding a launch costs, without a device: look-up of the kernel and scan of its arguments.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/log/log.hpp"
#include "core/session.hpp"
#include "cupti/driver_params.hpp"
#include "cupti/watch.hpp"

namespace cuward::cupti {
namespace {

DriverQueries driver_of_pointer_kernels() {
    DriverQueries driver;
    driver.function_parameter = [](CUfunction, std::size_t index, std::size_t* offset,
                                   std::size_t* size) {
        if (index >= 8) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *offset = index * 8;
        *size = 8;
        return CUDA_SUCCESS;
    };
    return driver;
}

/// A launch of eight pointers; `tracked` of them lie in blocks.
void launch(benchmark::State& state) {
    Session session({}, "");
    constexpr Address kBlock = 0x700000000000;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        Allocation allocation;
        allocation.kind = BlockKind::Managed;
        allocation.ptr = kBlock + i * 0x100000;
        allocation.bytes = 0x10000;
        allocation.context = 1;
        session.tracker().allocated(allocation);
    }
    Watch watch(session, driver_of_pointer_kernels());
    std::array<Address, 8> values{};
    std::array<void*, 8> params{};
    for (std::size_t i = 0; i < params.size(); ++i) {
        values[i] = i < static_cast<std::size_t>(state.range(0)) ? kBlock + i * 0x100000 : i;
        params[i] = &values[i];
    }
    cuLaunchKernel_params launch{};
    launch.f = reinterpret_cast<CUfunction>(0x1000);
    launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
    launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
    launch.kernelParams = params.data();
    Call call;
    for (auto step : state) {
        watch.enter({.function = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                     .params = &launch,
                     .context = 1,
                     .symbol = "_Z1kPfPKfS1_S1_S1_S1_S1_S1_"},
                    call);
        watch.leave(call, CUDA_SUCCESS);
    }
}
BENCHMARK(launch)->Arg(0)->Arg(1)->Arg(3)->Arg(8);

/// Launches of many kernels on pointers into few large blocks, as a caching allocator hands them
/// out. Between them the program's own work sweeps `range(0)` MiB through the caches.
void launch_cold(benchmark::State& state) {
    Session session({}, "");
    constexpr Address kBlock = 0x700000000000;
    constexpr std::uint64_t kBytes = 20U << 20;
    constexpr std::uint64_t kBlocks = 32;
    for (std::uint64_t i = 0; i < kBlocks; ++i) {
        Allocation allocation;
        allocation.kind = BlockKind::Managed;
        allocation.ptr = kBlock + i * kBytes;
        allocation.bytes = kBytes;
        allocation.context = 1;
        session.tracker().allocated(allocation);
    }
    Watch watch(session, driver_of_pointer_kernels());
    std::array<Address, 8> values{};
    std::array<void*, 8> params{};
    for (std::size_t i = 0; i < params.size(); ++i) {
        values[i] = i;
        params[i] = &values[i];
    }
    cuLaunchKernel_params launch{};
    launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
    launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
    launch.kernelParams = params.data();
    Call call;
    std::vector<std::uint64_t> others((static_cast<std::size_t>(state.range(0)) << 20U) / 8, 1);
    std::uint64_t random = 0;
    std::uint64_t sum = 0;
    for (auto step : state) {
        for (std::size_t i = 0; i < others.size(); i += 8) {
            sum += others[i];
        }
        benchmark::DoNotOptimize(sum);
        for (std::size_t i = 0; i < 4; ++i) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            const std::uint64_t tensor = (random >> 33U) % 1000;
            values[i] = kBlock + tensor % kBlocks * kBytes + tensor * 512;
        }
        launch.f = reinterpret_cast<CUfunction>(0x1000 + (random >> 33U) % 88 * 64);
        const auto begin = std::chrono::steady_clock::now();
        watch.enter({.function = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                     .params = &launch,
                     .context = 1,
                     .symbol = "_Z1kPfPKfS1_S1_S1_S1_S1_S1_"},
                    call);
        watch.leave(call, CUDA_SUCCESS);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        state.SetIterationTime(taken.count());
    }
}
BENCHMARK(launch_cold)->UseManualTime()->ArgName("MiB")->Arg(0)->Arg(1)->Arg(4);

void kernel_lookup(benchmark::State& state) {
    KernelCache kernels(
        driver_of_pointer_kernels(), [](std::string_view) { return KernelId{1}; },
        [](std::string_view) {});
    std::uint64_t handle = 0;
    for (auto step : state) {
        handle = (handle + 1) % 1000;
        benchmark::DoNotOptimize(kernels.find(0x5000 + handle * 64, "kernel").id);
    }
}
BENCHMARK(kernel_lookup);

}  // namespace
}  // namespace cuward::cupti
