#include <cuda.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "simgpu.hpp"

// That work is ordered, and is not ordered, as the programming guide says; seen in what memory
// holds.
namespace {

constexpr int count = 1000;
constexpr size_t bytes = count * sizeof(int);

class Order : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_CUDA(cudaMalloc(&a, bytes));
        ASSERT_CUDA(cudaMalloc(&b, bytes));
        ASSERT_CUDA(cudaMemset(a, 0, bytes));
        ASSERT_CUDA(cudaMemset(b, 0, bytes));
        ASSERT_CUDA(cudaStreamCreate(&blocking));
        ASSERT_CUDA(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
        ASSERT_CUDA(cudaDeviceSynchronize());
    }

    void TearDown() override {
        kernels::open_gate();
        cudaDeviceReset();
    }

    int first_of(const int* device) {
        int value = -1;
        EXPECT_CUDA(
            cudaMemcpyAsync(&value, device, sizeof value, cudaMemcpyDeviceToHost, free_running));
        return value;
    }

    int* a = nullptr;
    int* b = nullptr;
    cudaStream_t blocking = nullptr;
    cudaStream_t free_running = nullptr;
};

TEST_F(Order, LegacyStreamWaitsForBlockingStreams) {
    const simtest::Gate gate;
    kernels::launch_gate(blocking);
    kernels::launch_add(nullptr, a, b, 7, count);
    EXPECT_EQ(first_of(a), 0);
    kernels::open_gate();
    EXPECT_CUDA(cudaStreamSynchronize(nullptr));
    EXPECT_EQ(first_of(a), 7);
}

TEST_F(Order, BlockingStreamsWaitForLegacyStream) {
    const simtest::Gate gate;
    kernels::launch_gate(nullptr);
    kernels::launch_add(blocking, a, b, 7, count);
    EXPECT_EQ(first_of(a), 0);
    kernels::open_gate();
    EXPECT_CUDA(cudaStreamSynchronize(blocking));
    EXPECT_EQ(first_of(a), 7);
}

TEST_F(Order, NonBlockingStreamsIgnoreLegacyStream) {
    const simtest::Gate gate;
    kernels::launch_gate(nullptr);
    kernels::launch_add(free_running, a, b, 7, count);
    EXPECT_EQ(first_of(a), 7);
}

TEST_F(Order, PerThreadStreamIsABlockingStream) {
    const simtest::Gate gate;
    kernels::launch_gate(nullptr);
    kernels::launch_add(cudaStreamPerThread, a, b, 7, count);
    EXPECT_EQ(first_of(a), 0);
    kernels::open_gate();
    EXPECT_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    EXPECT_EQ(first_of(a), 7);
}

TEST_F(Order, PerThreadStreamsOfTwoThreadsAreUnordered) {
    const simtest::Gate gate;
    kernels::launch_gate(cudaStreamPerThread);
    std::thread([&] {
        kernels::launch_add(cudaStreamPerThread, a, b, 7, count);
        EXPECT_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    }).join();
    EXPECT_EQ(first_of(a), 7);
}

TEST_F(Order, WaitTakesTheRecordIssuedBeforeIt) {
    cudaEvent_t event = nullptr;
    ASSERT_CUDA(cudaEventCreate(&event));
    ASSERT_CUDA(
        cudaStreamWaitEvent(free_running, event, 0));  // never recorded: nothing to wait for
    EXPECT_EQ(first_of(a), 0);
    const simtest::Gate gate;
    cudaStream_t other = nullptr;
    ASSERT_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    ASSERT_CUDA(cudaEventRecord(event, other));
    ASSERT_CUDA(cudaStreamWaitEvent(free_running, event, 0));
    kernels::launch_gate(other);
    ASSERT_CUDA(cudaEventRecord(event, other));  // later than the wait
    EXPECT_EQ(first_of(a), 0);
    EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
    kernels::open_gate();
    EXPECT_CUDA(cudaEventSynchronize(event));
}

TEST_F(Order, WorkOfADestroyedStreamGoesOn) {
    cudaStream_t doomed = nullptr;
    ASSERT_CUDA(cudaStreamCreate(&doomed));
    const simtest::Gate gate;
    kernels::launch_gate(doomed);
    kernels::launch_add(doomed, a, b, 7, count);
    ASSERT_CUDA(cudaStreamDestroy(doomed));
    kernels::launch_add(nullptr, b, a, 1, count);  // the legacy stream still waits for it
    kernels::open_gate();
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(first_of(b), 8);
}

// The trap of semantics.md: the copy has returned, its source may go, the bytes are not there yet.
TEST_F(Order, PageableCopyMayStillRunAfterItsReturn) {
    const simtest::Setting slow("SIMGPU_DELAY_US", "htod=50000");
    std::vector<int> source(count, 9);
    ASSERT_CUDA(cudaMemcpy(a, source.data(), bytes, cudaMemcpyHostToDevice));
    std::fill(source.begin(), source.end(), 0);
    EXPECT_EQ(first_of(a), 0);
    EXPECT_CUDA(cudaStreamSynchronize(nullptr));
    EXPECT_EQ(first_of(a), 9);
}

TEST_F(Order, PinnedCopyIsCompleteAtItsReturn) {
    const simtest::Setting slow("SIMGPU_DELAY_US", "htod=50000");
    int* source = nullptr;
    ASSERT_CUDA(cudaMallocHost(reinterpret_cast<void**>(&source), bytes));
    std::fill(source, source + count, 9);
    ASSERT_CUDA(cudaMemcpy(a, source, bytes, cudaMemcpyHostToDevice));
    EXPECT_EQ(first_of(a), 9);
}

TEST_F(Order, PinnedSourceIsReadWhenTheCopyRuns) {
    int* source = nullptr;
    ASSERT_CUDA(cudaMallocHost(reinterpret_cast<void**>(&source), bytes));
    std::fill(source, source + count, 1);
    const simtest::Gate gate;
    kernels::launch_gate(blocking);
    ASSERT_CUDA(cudaMemcpyAsync(a, source, bytes, cudaMemcpyHostToDevice, blocking));
    source[0] = 2;
    kernels::open_gate();
    EXPECT_CUDA(cudaStreamSynchronize(blocking));
    EXPECT_EQ(first_of(a), 2);
}

TEST_F(Order, PageableSourceIsReadAtTheCall) {
    std::vector<int> source(count, 1);
    const simtest::Gate gate;
    kernels::launch_gate(blocking);
    ASSERT_CUDA(cudaMemcpyAsync(a, source.data(), bytes, cudaMemcpyHostToDevice, blocking));
    source[0] = 2;
    kernels::open_gate();
    EXPECT_CUDA(cudaStreamSynchronize(blocking));
    EXPECT_EQ(first_of(a), 1);
}

TEST_F(Order, ElapsedTimeIsTheDevices) {
    const simtest::Setting slow("SIMGPU_DELAY_US", "kernel:*without_twin*=1000");
    cudaEvent_t start = nullptr;
    cudaEvent_t end = nullptr;
    ASSERT_CUDA(cudaEventCreate(&start));
    ASSERT_CUDA(cudaEventCreate(&end));
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
    ASSERT_CUDA(cudaEventRecord(start, blocking));
    for (int launch = 0; launch < 10; ++launch) {
        kernels::launch_without_twin(blocking, a);
    }
    ASSERT_CUDA(cudaEventRecord(end, blocking));
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
    ASSERT_CUDA(cudaEventSynchronize(end));
    ASSERT_CUDA(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT_GE(milliseconds, 10.0F);
}

TEST_F(Order, PoolMemoryComesBackAtOnceToItsStreamOnly) {
    void* first = nullptr;
    void* again = nullptr;
    void* elsewhere = nullptr;
    ASSERT_CUDA(cudaMallocAsync(&first, bytes, blocking));
    const simtest::Gate gate;
    kernels::launch_gate(blocking);
    ASSERT_CUDA(cudaFreeAsync(first, blocking));
    ASSERT_CUDA(cudaMallocAsync(&elsewhere, bytes, free_running));
    EXPECT_NE(elsewhere, first);
    ASSERT_CUDA(cudaMallocAsync(&again, bytes, blocking));
    EXPECT_EQ(again, first);
    EXPECT_EQ(cudaFreeAsync(nullptr, blocking), cudaSuccess);
}

TEST_F(Order, AddressesAndHandlesAreReused) {
    void* first = nullptr;
    void* second = nullptr;
    ASSERT_CUDA(cudaMalloc(&first, bytes));
    ASSERT_CUDA(cudaFree(first));
    ASSERT_CUDA(cudaMalloc(&second, bytes));
    EXPECT_EQ(first, second);
    cudaStream_t one = nullptr;
    cudaStream_t two = nullptr;
    ASSERT_CUDA(cudaStreamCreate(&one));
    ASSERT_CUDA(cudaStreamDestroy(one));
    ASSERT_CUDA(cudaStreamCreate(&two));
    EXPECT_EQ(one, two);
}

TEST_F(Order, FreeOfWhatIsNotAllocatedIsAnError) {
    void* pointer = nullptr;
    ASSERT_CUDA(cudaMalloc(&pointer, bytes));
    EXPECT_EQ(cudaFree(static_cast<char*>(pointer) + 256), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaFree(pointer));
    EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Order, WaitValueHoldsTheStreamUntilTheWrite) {
    const auto flag = reinterpret_cast<CUdeviceptr>(b);
    ASSERT_EQ(cuStreamWaitValue32(free_running, flag, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
    EXPECT_EQ(cudaStreamQuery(free_running), cudaErrorNotReady);
    cudaGetLastError();
    ASSERT_EQ(cuStreamWriteValue32(blocking, flag, 6, 0), CUDA_SUCCESS);
    EXPECT_CUDA(cudaStreamSynchronize(free_running));
}

TEST_F(Order, FullQueueHoldsTheHostNotTheProgram) {
    const simtest::Gate gate;
    kernels::launch_gate(blocking);
    std::thread opener([] {
        std::this_thread::sleep_for(simtest::short_time);
        kernels::open_gate();
    });
    for (int launch = 0; launch < 3000; ++launch) {
        kernels::launch_add(blocking, a, a, 1, 1);
    }
    opener.join();
    EXPECT_CUDA(cudaStreamSynchronize(blocking));
    EXPECT_EQ(first_of(a), 3000);
}

TEST_F(Order, ManyThreadsAndStreams) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            int* mine = a + 10 * thread;
            cudaStream_t stream = nullptr;
            EXPECT_CUDA(cudaStreamCreate(&stream));
            for (int step = 0; step < 200; ++step) {
                kernels::launch_add(step % 2 == 0 ? stream : nullptr, mine, mine, 1, 1);
            }
            EXPECT_CUDA(cudaStreamSynchronize(stream));
            EXPECT_CUDA(cudaStreamDestroy(stream));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_CUDA(cudaDeviceSynchronize());
    for (int thread = 0; thread < 4; ++thread) {
        EXPECT_EQ(first_of(a + 10 * thread), 200);
    }
}

}  // namespace
