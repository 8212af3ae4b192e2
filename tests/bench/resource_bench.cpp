// What the resource itself costs: a driver that does nothing, an order that lets everything pass.
#include <benchmark/benchmark.h>

#include <vector>

#include "core/resource/direct_cuda_resource.hpp"

namespace cuward {
namespace {

constexpr StreamId kStream{0x1000};
constexpr StreamId kOtherStream{0x2000};

/// Gives one address after another, 512 bytes apart as drivers do, and starts again after a while.
CUresult next_address(CUdeviceptr* address) {
    static CUdeviceptr count = 0;
    constexpr CUdeviceptr kBase = 0x7f0000000000;
    constexpr CUdeviceptr kAddresses = 1 << 24;
    *address = kBase + 512 * (count++ % kAddresses);
    return CUDA_SUCCESS;
}

DriverApi null_driver() {
    DriverApi driver;
    driver.device_get = [](CUdevice*, int) { return CUDA_SUCCESS; };
    driver.device_get_attribute = [](int* value, CUdevice_attribute, CUdevice) {
        *value = 1;
        return CUDA_SUCCESS;
    };
    driver.mem_alloc = [](CUdeviceptr* address, std::size_t) { return next_address(address); };
    driver.mem_alloc_async = [](CUdeviceptr* address, std::size_t, CUstream) {
        return next_address(address);
    };
    driver.mem_free = [](CUdeviceptr) { return CUDA_SUCCESS; };
    driver.mem_free_async = [](CUdeviceptr, CUstream) { return CUDA_SUCCESS; };
    return driver;
}

DirectCudaResource& resource() {
    static const DriverApi driver = null_driver();
    static DirectCudaResource direct(CudaDevice(driver, &observed_order()), 0);
    return direct;
}

std::vector<DeviceBlock> allocate_blocks(std::int64_t count) {
    std::vector<DeviceBlock> blocks;
    for (std::int64_t i = 0; i < count; ++i) {
        blocks.push_back(resource().allocate(512, kNoStream, AllocTag{}).value());
    }
    return blocks;
}

void deallocate_blocks(const std::vector<DeviceBlock>& blocks) {
    for (const DeviceBlock& block : blocks) {
        benchmark::DoNotOptimize(resource().deallocate(block));
    }
}

/// One use after another, each of another block, on alternating streams.
void use_blocks(benchmark::State& state, Access access) {
    const std::vector<DeviceBlock> blocks = allocate_blocks(state.range(0));
    std::size_t next = 0;
    while (state.KeepRunning()) {
        const BlockId id(blocks[next % blocks.size()]);
        const StreamId stream = (++next & 64U) != 0 ? kStream : kOtherStream;
        benchmark::DoNotOptimize(resource().prepare_block_use(id, stream, access));
        benchmark::DoNotOptimize(resource().finish_block_use(id, stream, access));
    }
    deallocate_blocks(blocks);
}

void read_blocks(benchmark::State& state) {
    use_blocks(state, Access::Read);
}
void write_blocks(benchmark::State& state) {
    use_blocks(state, Access::ReadWrite);
}

void allocate_and_deallocate(benchmark::State& state, StreamId stream) {
    const std::vector<DeviceBlock> others = allocate_blocks(state.range(0));
    while (state.KeepRunning()) {
        const auto block = resource().allocate(512, stream, AllocTag{});
        benchmark::DoNotOptimize(resource().deallocate(*block));
    }
    deallocate_blocks(others);
}

void direct_cycle(benchmark::State& state) {
    allocate_and_deallocate(state, kNoStream);
}
void stream_cycle(benchmark::State& state) {
    allocate_and_deallocate(state, kStream);
}

BENCHMARK(read_blocks)->Arg(1)->Arg(1000)->Arg(1'000'000);
BENCHMARK(write_blocks)->Arg(1)->Arg(1000)->Arg(1'000'000);
BENCHMARK(direct_cycle)->Arg(0)->Arg(1'000'000);
BENCHMARK(stream_cycle)->Arg(0)->Arg(1'000'000);

}  // namespace
}  // namespace cuward
