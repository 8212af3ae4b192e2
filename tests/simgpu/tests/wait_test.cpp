#include <cuda.h>

#include <functional>
#include <memory>
#include <ostream>
#include <vector>

#include "simgpu.hpp"

// The measured table of which calls wait: a kernel runs in stream A, the call is made, and either
// it returns while the kernel is still running or it does not.
namespace {

constexpr size_t bytes = 4096;
constexpr size_t big_bytes = size_t{32} << 20;
constexpr size_t staged_bytes = size_t{1} << 20;

struct Buffers {
    void* device = nullptr;
    void* other_device = nullptr;
    void* pinned = nullptr;
    void* other_pinned = nullptr;
    void* spare_pinned = nullptr;
    void* managed = nullptr;
    void* pooled = nullptr;
    void* big_device = nullptr;
    cudaArray_t array = nullptr;
    cudaEvent_t event = nullptr;
    cudaStream_t stream = nullptr;  // the one the kernel runs in
    cudaStream_t idle = nullptr;
    std::vector<char> pageable = std::vector<char>(bytes);
    std::vector<char> other_pageable = std::vector<char>(bytes);
    std::vector<char> registered = std::vector<char>(2 * bytes);
    std::vector<char> unregistered = std::vector<char>(2 * bytes);
    std::vector<char> big_pageable = std::vector<char>(big_bytes);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
};

struct Row {
    const char* name;
    bool blocking_waits;
    bool non_blocking_waits;
    std::function<void(Buffers&)> call;
};

void PrintTo(const Row& row, std::ostream* out) {
    *out << row.name;
}

CUmodule load_layouts() {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoad(&module, SIMGPU_LAYOUTS), CUDA_SUCCESS);
    return module;
}

const Row rows[] = {
    {"StreamSynchronize0", true, false, [](Buffers&) { cudaStreamSynchronize(nullptr); }},
    {"EventOnStream0", true, false,
     [](Buffers& b) {
         cudaEventRecord(b.event, nullptr);
         cudaEventSynchronize(b.event);
     }},
    {"StreamSynchronizePerThread", false, false,
     [](Buffers&) { cudaStreamSynchronize(cudaStreamPerThread); }},
    {"DeviceSynchronize", true, true, [](Buffers&) { cudaDeviceSynchronize(); }},
    {"Malloc", false, false,
     [](Buffers&) {
         void* p;
         cudaMalloc(&p, bytes);
     }},
    {"MallocManaged", false, false,
     [](Buffers&) {
         void* p;
         cudaMallocManaged(&p, bytes, 1);
     }},
    {"MallocArray", false, false,
     [](Buffers&) {
         const cudaChannelFormatDesc channel{32, 0, 0, 0, cudaChannelFormatKindFloat};
         cudaArray_t array;
         cudaMallocArray(&array, &channel, 16, 16, 0);
     }},
    {"HostAlloc", false, false,
     [](Buffers&) {
         void* p;
         cudaHostAlloc(&p, bytes, 0);
     }},
    {"HostRegister", false, false,
     [](Buffers& b) { cudaHostRegister(b.unregistered.data(), bytes, 0); }},
    {"Free", true, true,
     [](Buffers& b) {
         cudaFree(b.other_device);
         b.other_device = nullptr;
     }},
    {"FreeManaged", true, true,
     [](Buffers& b) {
         cudaFree(b.managed);
         b.managed = nullptr;
     }},
    {"FreeArray", true, true,
     [](Buffers& b) {
         cudaFreeArray(b.array);
         b.array = nullptr;
     }},
    {"FreeHost", true, true,
     [](Buffers& b) {
         cudaFreeHost(b.spare_pinned);
         b.spare_pinned = nullptr;
     }},
    {"HostUnregister", true, true, [](Buffers& b) { cudaHostUnregister(b.registered.data()); }},
    {"FreeNull", false, false, [](Buffers&) { cudaFree(nullptr); }},
    {"MallocAsync", false, false,
     [](Buffers& b) {
         void* p;
         cudaMallocAsync(&p, bytes, b.stream);
     }},
    {"FreeAsync", false, false,
     [](Buffers& b) {
         cudaFreeAsync(b.pooled, b.stream);
         b.pooled = nullptr;
     }},
    {"FreeOfPoolMemory", false, false,
     [](Buffers& b) {
         cudaFree(b.pooled);
         b.pooled = nullptr;
     }},
    {"PoolTrim", false, false,
     [](Buffers&) {
         cudaMemPool_t pool;
         cudaDeviceGetDefaultMemPool(&pool, 0);
         cudaMemPoolTrimTo(pool, 0);
     }},
    {"StreamCreateDestroy", false, false,
     [](Buffers&) {
         cudaStream_t stream;
         cudaStreamCreate(&stream);
         cudaStreamDestroy(stream);
     }},
    {"EventCreateDestroy", false, false,
     [](Buffers&) {
         cudaEvent_t event;
         cudaEventCreate(&event);
         cudaEventDestroy(event);
     }},
    {"MemsetDevice", false, false, [](Buffers& b) { cudaMemset(b.device, 1, bytes); }},
    {"MemsetAsync", false, false,
     [](Buffers& b) { cudaMemsetAsync(b.device, 1, bytes, b.stream); }},
    {"MemsetPinned", true, false, [](Buffers& b) { cudaMemset(b.pinned, 1, bytes); }},
    {"MemcpyFromPageable", true, false,
     [](Buffers& b) { cudaMemcpy(b.device, b.pageable.data(), bytes, cudaMemcpyHostToDevice); }},
    {"MemcpyFromPinned", true, false,
     [](Buffers& b) { cudaMemcpy(b.device, b.pinned, bytes, cudaMemcpyHostToDevice); }},
    {"MemcpyToPageable", true, false,
     [](Buffers& b) { cudaMemcpy(b.pageable.data(), b.device, bytes, cudaMemcpyDeviceToHost); }},
    {"MemcpyToPinned", true, false,
     [](Buffers& b) { cudaMemcpy(b.pinned, b.device, bytes, cudaMemcpyDeviceToHost); }},
    {"MemcpyHostToHost", true, false,
     [](Buffers& b) {
         cudaMemcpy(b.pageable.data(), b.other_pageable.data(), bytes, cudaMemcpyHostToHost);
     }},
    {"MemcpyDeviceToDevice", false, false,
     [](Buffers& b) { cudaMemcpy(b.device, b.other_device, bytes, cudaMemcpyDeviceToDevice); }},
    {"MemcpyDefaultDeviceToDevice", false, false,
     [](Buffers& b) { cudaMemcpy(b.device, b.other_device, bytes, cudaMemcpyDefault); }},
    {"AsyncToPageable", true, true,
     [](Buffers& b) {
         cudaMemcpyAsync(b.pageable.data(), b.device, bytes, cudaMemcpyDeviceToHost, b.stream);
     }},
    {"AsyncHostToHost", true, true,
     [](Buffers& b) {
         cudaMemcpyAsync(b.pinned, b.other_pinned, bytes, cudaMemcpyHostToHost, b.stream);
     }},
    {"AsyncToPinned", false, false,
     [](Buffers& b) {
         cudaMemcpyAsync(b.pinned, b.device, bytes, cudaMemcpyDeviceToHost, b.stream);
     }},
    {"AsyncFromPinned", false, false,
     [](Buffers& b) {
         cudaMemcpyAsync(b.device, b.pinned, bytes, cudaMemcpyHostToDevice, b.stream);
     }},
    {"AsyncFromPageable", false, false,
     [](Buffers& b) {
         cudaMemcpyAsync(b.big_device, b.big_pageable.data(), staged_bytes, cudaMemcpyHostToDevice,
                         b.stream);
     }},
    {"AsyncFromBigPageable", true, true,
     [](Buffers& b) {
         cudaMemcpyAsync(b.big_device, b.big_pageable.data(), big_bytes, cudaMemcpyHostToDevice,
                         b.stream);
     }},
    {"HostFunction", false, false,
     [](Buffers& b) {
         cudaLaunchHostFunc(
             b.stream, [](void*) {}, nullptr);
     }},
    {"GraphLaunch", false, false, [](Buffers& b) { cudaGraphLaunch(b.exec, b.stream); }},
    {"GraphInstantiateDestroy", false, false,
     [](Buffers& b) {
         cudaGraphExec_t exec;
         cudaGraphInstantiate(&exec, b.graph, 0);
         cudaGraphExecDestroy(exec);
     }},
    {"MemGetInfo", false, false,
     [](Buffers&) {
         size_t free, total;
         cudaMemGetInfo(&free, &total);
     }},
    {"PointerGetAttributes", false, false,
     [](Buffers& b) {
         cudaPointerAttributes attributes;
         cudaPointerGetAttributes(&attributes, b.device);
     }},
    {"ModuleLoad", true, true,
     [](Buffers&) {
         cudaFree(nullptr);
         load_layouts();
     }},
    {"KernelLaunchOnIdleStream", false, false,
     [](Buffers& b) { kernels::launch_without_twin(b.idle, static_cast<int*>(b.device)); }},
};

class WaitTable : public testing::TestWithParam<Row> {
  protected:
    void SetUp() override {
        ASSERT_CUDA(cudaMalloc(&b.device, bytes));
        ASSERT_CUDA(cudaMalloc(&b.other_device, bytes));
        ASSERT_CUDA(cudaMalloc(&b.big_device, big_bytes));
        ASSERT_CUDA(cudaMallocHost(&b.pinned, bytes));
        ASSERT_CUDA(cudaMallocHost(&b.other_pinned, bytes));
        ASSERT_CUDA(cudaMallocHost(&b.spare_pinned, bytes));
        ASSERT_CUDA(cudaMallocManaged(&b.managed, bytes, cudaMemAttachGlobal));
        ASSERT_CUDA(cudaHostRegister(b.registered.data(), bytes, 0));
        const cudaChannelFormatDesc channel{32, 0, 0, 0, cudaChannelFormatKindFloat};
        ASSERT_CUDA(cudaMallocArray(&b.array, &channel, 16, 16, 0));
        ASSERT_CUDA(cudaEventCreate(&b.event));
        ASSERT_CUDA(cudaGraphCreate(&b.graph, 0));
        cudaGraphNode_t node;
        ASSERT_CUDA(cudaGraphAddEmptyNode(&node, b.graph, nullptr, 0));
        ASSERT_CUDA(cudaGraphInstantiate(&b.exec, b.graph, 0));
    }

    void run(unsigned flags, bool expect_wait) {
        ASSERT_CUDA(cudaStreamCreateWithFlags(&b.stream, flags));
        ASSERT_CUDA(cudaStreamCreateWithFlags(&b.idle, cudaStreamNonBlocking));
        ASSERT_CUDA(cudaMallocAsync(&b.pooled, bytes, b.idle));
        ASSERT_CUDA(cudaDeviceSynchronize());
        const simtest::Gate gate;
        kernels::launch_gate(b.stream);
        kernels::await_entry();
        const auto call = [&] { GetParam().call(b); };
        if (expect_wait) {
            EXPECT_TRUE(simtest::waits_for_gate(call));
        } else {
            EXPECT_TRUE(simtest::returns_at_closed_gate(call));
        }
        EXPECT_CUDA(cudaDeviceSynchronize());
    }

    void TearDown() override {
        kernels::open_gate();
        cudaDeviceReset();
    }

    Buffers b;
};

TEST_P(WaitTable, BlockingStream) {
    run(cudaStreamDefault, GetParam().blocking_waits);
}

TEST_P(WaitTable, NonBlockingStream) {
    run(cudaStreamNonBlocking, GetParam().non_blocking_waits);
}

INSTANTIATE_TEST_SUITE_P(Measured, WaitTable, testing::ValuesIn(rows),
                         [](const auto& param) { return std::string(param.param.name); });

// Queries do not wait; the table says what they answer.
TEST(WaitTable, QueryOfStream0SeesBlockingStreamsOnly) {
    for (const unsigned flags : {cudaStreamDefault, cudaStreamNonBlocking}) {
        cudaStream_t stream = nullptr;
        ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, flags));
        const simtest::Gate gate;
        kernels::launch_gate(stream);
        kernels::await_entry();
        EXPECT_EQ(cudaStreamQuery(nullptr),
                  flags == cudaStreamDefault ? cudaErrorNotReady : cudaSuccess);
        EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
        kernels::open_gate();
        EXPECT_CUDA(cudaStreamSynchronize(stream));
        EXPECT_CUDA(cudaStreamDestroy(stream));
    }
}

TEST(WaitTable, ModuleUnloadWaits) {
    ASSERT_CUDA(cudaFree(nullptr));
    const CUmodule module = load_layouts();
    cudaStream_t stream = nullptr;
    ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const simtest::Gate gate;
    kernels::launch_gate(stream);
    kernels::await_entry();
    EXPECT_TRUE(simtest::waits_for_gate([&] {
        cudaFree(nullptr);
        EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    }));
    EXPECT_CUDA(cudaStreamDestroy(stream));
}

}  // namespace
