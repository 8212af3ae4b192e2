// What the resource itself costs: a driver that does nothing, an order that lets everything pass.
#include <benchmark/benchmark.h>

#include <vector>

#include "core/resource/async_cuda_resource.hpp"
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
    driver.ctx_get_current = [](CUcontext* context) {
        *context = reinterpret_cast<CUcontext>(1);
        return CUDA_SUCCESS;
    };
    driver.stream_create = [](CUstream* stream, unsigned) {
        *stream = reinterpret_cast<CUstream>(0x3000);
        return CUDA_SUCCESS;
    };
    driver.stream_destroy = [](CUstream) { return CUDA_SUCCESS; };
    driver.stream_synchronize = [](CUstream) { return CUDA_SUCCESS; };
    driver.stream_wait_event = [](CUstream, CUevent, unsigned) { return CUDA_SUCCESS; };
    driver.event_create = [](CUevent*, unsigned) { return CUDA_SUCCESS; };
    driver.event_record = [](CUevent, CUstream) { return CUDA_SUCCESS; };
    driver.event_query = [](CUevent) { return CUDA_SUCCESS; };
    driver.event_destroy = [](CUevent) { return CUDA_SUCCESS; };
    driver.mem_pool_create = [](CUmemoryPool* pool, const CUmemPoolProps*) {
        *pool = reinterpret_cast<CUmemoryPool>(1);
        return CUDA_SUCCESS;
    };
    driver.mem_pool_destroy = [](CUmemoryPool) { return CUDA_SUCCESS; };
    driver.mem_pool_get_attribute = [](CUmemoryPool, CUmemPool_attribute, void*) {
        return CUDA_SUCCESS;
    };
    driver.mem_pool_set_attribute = driver.mem_pool_get_attribute;
    driver.mem_pool_set_access = [](CUmemoryPool, const CUmemAccessDesc*, std::size_t) {
        return CUDA_SUCCESS;
    };
    driver.mem_pool_trim_to = [](CUmemoryPool, std::size_t) { return CUDA_SUCCESS; };
    driver.mem_alloc_from_pool_async = [](CUdeviceptr* address, std::size_t, CUmemoryPool,
                                          CUstream) { return next_address(address); };
    return driver;
}

class OneBusyStream final : public UseOrder {
  public:
    UsePoint point(StreamId stream) override {
        return {.stream = stream, .context = 1, .lane = static_cast<std::uint64_t>(stream)};
    }
    bool provided(const UsePoint& /*earlier*/, const UsePoint& /*later*/) override { return true; }
    void for_each_unfinished(const std::function<void(const UsePoint&)>& visit) override {
        visit(point(kStream));
    }
    bool observes_only() const override { return true; }
};

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

/// An allocation and its free, in a program with one busy stream.
void pooled_cycle(benchmark::State& state) {
    static const DriverApi driver = null_driver();
    OneBusyStream order;
    AsyncCudaResource pooled(CudaDevice(driver, &order), 0);
    while (state.KeepRunning()) {
        const auto block =
            pooled.allocate(static_cast<std::size_t>(state.range(0)), kNoStream, AllocTag{});
        benchmark::DoNotOptimize(pooled.deallocate_synchronously(*block));
    }
}

BENCHMARK(pooled_cycle)->Arg(512)->Arg(32 << 20);
BENCHMARK(read_blocks)->Arg(1)->Arg(1000)->Arg(1'000'000);
BENCHMARK(write_blocks)->Arg(1)->Arg(1000)->Arg(1'000'000);
BENCHMARK(direct_cycle)->Arg(0)->Arg(1'000'000);
BENCHMARK(stream_cycle)->Arg(0)->Arg(1'000'000);

}  // namespace
}  // namespace cuward
