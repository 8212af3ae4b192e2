// Calls from entry to return, up to what the tracker finds.
#include "cupti/watch.hpp"

#include <gtest/gtest.h>

#include "core/log/log.hpp"
#include "cupti/driver_params.hpp"

namespace cuward::cupti {
namespace {

class WatchTest : public testing::Test {
  protected:
    static constexpr Address kBlock = 0x700000000000;
    static constexpr ContextId kContext = 1;
    static constexpr std::uint64_t kFirst = 0x1000;
    static constexpr std::uint64_t kSecond = 0x2000;
    static constexpr std::uint64_t kEvent = 0x3000;

    WatchTest() {
        Allocation allocation;
        allocation.kind = BlockKind::Managed;
        allocation.ptr = kBlock;
        allocation.bytes = 0x10000;
        allocation.context = kContext;
        session.tracker().allocated(allocation);
        create_stream(kFirst);
        create_stream(kSecond);
    }

    static CUstream stream(std::uint64_t handle) { return reinterpret_cast<CUstream>(handle); }
    static CUevent event(std::uint64_t handle) { return reinterpret_cast<CUevent>(handle); }

    template <typename Params>
    void call(std::uint32_t function, const Params& params, int result = CUDA_SUCCESS) {
        Call made;
        enter(function, params, made);
        watch.leave(made, result);
    }
    template <typename Params>
    void enter(std::uint32_t function, const Params& params, Call& made) {
        watch.enter(
            {.function = function, .params = &params, .context = kContext, .symbol = nullptr},
            made);
    }

    void create_stream(std::uint64_t handle) {
        CUstream created = stream(handle);
        cuStreamCreate_params params{};
        params.phStream = &created;
        params.Flags = CU_STREAM_NON_BLOCKING;
        call(CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, params);
    }
    static cuMemsetD8Async_params memset_on(std::uint64_t handle) {
        cuMemsetD8Async_params params{};
        params.dstDevice = kBlock;
        params.N = 0x100;
        params.hStream = stream(handle);
        return params;
    }
    void write(std::uint64_t handle, int result = CUDA_SUCCESS) {
        call(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, memset_on(handle), result);
    }
    void record(std::uint64_t handle, int result = CUDA_SUCCESS) {
        cuEventRecord_params params{};
        params.hEvent = event(kEvent);
        params.hStream = stream(handle);
        call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, params, result);
    }
    void wait(std::uint64_t handle, int result = CUDA_SUCCESS) {
        cuStreamWaitEvent_params params{};
        params.hEvent = event(kEvent);
        params.hStream = stream(handle);
        call(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, params, result);
    }
    void launch_graph(std::uint64_t graph, std::uint64_t handle) {
        cuGraphLaunch_params params{};
        params.hGraph = reinterpret_cast<CUgraphExec>(graph);
        params.hStream = stream(handle);
        call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, params);
    }
    std::uint64_t races() { return session.tracker().totals().races; }

    Session session{DriverApi{}, ""};
    Watch watch{session, DriverQueries{}};
};

TEST_F(WatchTest, UnorderedWritesRace) {
    write(kFirst);
    EXPECT_EQ(races(), 0U);
    write(kSecond);
    EXPECT_EQ(races(), 1U);
}

TEST_F(WatchTest, AnEventOrders) {
    write(kFirst);
    record(kFirst);
    wait(kSecond);
    write(kSecond);
    EXPECT_EQ(races(), 0U);
}

TEST_F(WatchTest, LaunchesOfOneGraphComeAfterEachOther) {
    write(kFirst);
    launch_graph(0x71, kFirst);
    launch_graph(0x71, kSecond);
    write(kSecond);
    EXPECT_EQ(races(), 0U);
}

TEST_F(WatchTest, LaunchesOfTwoGraphsDoNot) {
    write(kFirst);
    launch_graph(0x71, kFirst);
    launch_graph(0x72, kSecond);
    write(kSecond);
    EXPECT_EQ(races(), 1U);
}

TEST_F(WatchTest, AReusedGraphHandleIsAnotherGraph) {
    write(kFirst);
    launch_graph(0x71, kFirst);
    cuGraphExecDestroy_params params{.hGraphExec = reinterpret_cast<CUgraphExec>(0x71)};
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy, params);
    launch_graph(0x71, kSecond);
    write(kSecond);
    EXPECT_EQ(races(), 1U);
}

TEST_F(WatchTest, WhatFailedOrdersNothing) {
    write(kFirst);
    record(kFirst, CUDA_ERROR_INVALID_HANDLE);
    wait(kSecond);
    write(kSecond);
    EXPECT_EQ(races(), 1U);
}

TEST_F(WatchTest, AFailedWaitOrdersNothing) {
    write(kFirst);
    record(kFirst);
    wait(kSecond, CUDA_ERROR_INVALID_HANDLE);
    write(kSecond);
    EXPECT_EQ(races(), 1U);
}

TEST_F(WatchTest, AFailedCopyMadeNoAccess) {
    write(kFirst, CUDA_ERROR_INVALID_VALUE);
    write(kSecond);
    EXPECT_EQ(races(), 0U);
}

TEST_F(WatchTest, SynchronizingAStreamOrders) {
    write(kFirst);
    cuStreamSynchronize_params params{.hStream = stream(kFirst)};
    call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, params);
    write(kSecond);
    EXPECT_EQ(races(), 0U);
}

TEST_F(WatchTest, OnlyASuccessfulQueryOrders) {
    write(kFirst);
    cuStreamQuery_params params{.hStream = stream(kFirst)};
    call(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, params, CUDA_ERROR_NOT_READY);
    write(kSecond);
    EXPECT_EQ(races(), 1U);
}

TEST_F(WatchTest, ASynchronizationWaitsForWhatWasQueuedBeforeIt) {
    cuStreamSynchronize_params params{.hStream = stream(kFirst)};
    Call synchronize;
    enter(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, params, synchronize);
    write(kFirst);  // from another thread
    watch.leave(synchronize, CUDA_SUCCESS);
    write(kSecond);
    EXPECT_EQ(races(), 1U);
}

TEST_F(WatchTest, ElapsedTimeOrders) {
    write(kFirst);
    record(kFirst);
    cuEventElapsedTime_params params{};
    params.hStart = event(kEvent);
    params.hEnd = event(kEvent);
    call(CUPTI_DRIVER_TRACE_CBID_cuEventElapsedTime, params);
    write(kSecond);
    EXPECT_EQ(races(), 0U);
}

TEST_F(WatchTest, SynchronizingTheContextOrders) {
    write(kFirst);
    call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, 0);
    write(kSecond);
    EXPECT_EQ(races(), 0U);
}

TEST_F(WatchTest, UnloadingAModuleOrdersInPractice) {
    write(kFirst);
    cuModuleUnload_params params{};
    call(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, params);
    write(kSecond);
    EXPECT_EQ(races(), 0U);
}

TEST_F(WatchTest, CapturedCallsMakeNoAccess) {
    cuStreamBeginCapture_v2_params begin{};
    begin.hStream = stream(kFirst);
    call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, begin);
    write(kFirst);
    write(kSecond);
    EXPECT_EQ(races(), 0U);
    cuStreamEndCapture_params end{};
    end.hStream = stream(kFirst);
    call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, end, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    write(kFirst);
    EXPECT_EQ(races(), 0U) << "that did not end it";
    call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, end, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    write(kFirst);
    EXPECT_EQ(races(), 1U);
}

TEST_F(WatchTest, StreamsOfUnknownOriginAreAsked) {
    static int asked = 0;
    asked = 0;
    DriverQueries driver;
    driver.stream_flags = [](CUstream, unsigned int* flags) {
        ++asked;
        *flags = CU_STREAM_NON_BLOCKING;
        return CUDA_SUCCESS;
    };
    Watch asking(session, driver);
    for (int i = 0; i < 3; ++i) {
        Call made;
        const cuMemsetD8Async_params params = memset_on(0x9999);
        asking.enter({.function = CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
                      .params = &params,
                      .context = kContext,
                      .symbol = nullptr},
                     made);
        asking.leave(made, CUDA_SUCCESS);
    }
    EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace cuward::cupti
