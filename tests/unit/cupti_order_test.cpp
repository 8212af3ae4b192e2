// Streams, events, contexts, captures and code: which effect each function has.
#include "cupti_fixture.hpp"

namespace cuward::cupti {
namespace {

class Effects : public DecoderTest {};

TEST_F(Effects, StreamCreation) {
    CUstream created = nullptr;
    cuStreamCreate_params p{};
    p.phStream = &created;
    p.Flags = CU_STREAM_NON_BLOCKING;
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, p);
    EXPECT_EQ(c.effect, Effect::StreamCreated);
    EXPECT_FALSE(c.blocking);
    EXPECT_EQ(c.created, &created);
    cuStreamCreateWithPriority_params q{};
    q.phStream = &created;
    EXPECT_TRUE(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamCreateWithPriority, q).blocking);
}

TEST_F(Effects, OnStreams) {
    cuStreamDestroy_v2_params destroy{.hStream = stream(0x50)};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, destroy).effect,
              Effect::StreamDestroyed);
    EXPECT_EQ(call.stream.stream, StreamId{0x50});
    cuStreamSynchronize_params synchronize{.hStream = nullptr};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, synchronize).effect,
              Effect::StreamComplete);
    EXPECT_EQ(call.stream.stream, kLegacyStream);
    cuStreamQuery_ptsz_params query{.hStream = nullptr};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery_ptsz, query).effect,
              Effect::StreamComplete);
    EXPECT_EQ(call.stream.stream, kPerThreadStream);
    cuStreamBeginCapture_v2_params begin{};
    begin.hStream = stream(0x50);
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, begin).effect,
              Effect::CaptureBegins);
    cuStreamEndCapture_params end{};
    end.hStream = stream(0x50);
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, end).effect, Effect::CaptureEnds);
}

TEST_F(Effects, WaitsForValuesInMemory) {
    cuStreamWaitValue32_v2_params wait{};
    wait.stream = stream(0x50);
    const Call& waits = decode(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2, wait);
    EXPECT_EQ(waits.effect, Effect::StreamWaitsUnknown);
    EXPECT_EQ(waits.stream.stream, StreamId{0x50});

    std::array<CUstreamBatchMemOpParams, 2> operations{};
    operations[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operations[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    cuStreamBatchMemOp_v2_params batch{};
    batch.paramArray = operations.data();
    batch.count = 1;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2, batch).effect, Effect::None);
    batch.count = 2;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2, batch).effect,
              Effect::StreamWaitsUnknown);
}

TEST_F(Effects, OnEvents) {
    CUevent created = nullptr;
    cuEventCreate_params create{};
    create.phEvent = &created;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuEventCreate, create).effect, Effect::EventCreated);
    EXPECT_EQ(call.created, &created);
    cuEventRecord_params record{.hEvent = event(0x9), .hStream = stream(0x50)};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, record).effect, Effect::EventRecorded);
    EXPECT_EQ(call.events[0], 0x9U);
    EXPECT_EQ(call.stream.stream, StreamId{0x50});
    cuEventRecordWithFlags_ptsz_params flags{.hEvent = event(0x9), .hStream = nullptr, .flags = 0};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz, flags).stream.stream,
              kPerThreadStream);
    cuStreamWaitEvent_params wait{.hStream = stream(0x51), .hEvent = event(0x9), .Flags = 0};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, wait).effect,
              Effect::StreamWaitsEvent);
    cuEventQuery_params query{.hEvent = event(0x9)};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuEventQuery, query).effect, Effect::EventsComplete);
    EXPECT_EQ(call.events[1], 0U);
    cuEventElapsedTime_params elapsed{};
    elapsed.hStart = event(0x9);
    elapsed.hEnd = event(0xa);
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuEventElapsedTime, elapsed).effect,
              Effect::EventsComplete);
    EXPECT_EQ(call.events[1], 0xaU);
    cuEventDestroy_v2_params destroy{.hEvent = event(0x9)};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2, destroy).effect,
              Effect::EventDestroyed);
}

TEST_F(Effects, Contexts) {
    decoder.decode({.function = CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
                    .params = nullptr,
                    .context = kContext,
                    .symbol = nullptr},
                   call);
    EXPECT_EQ(call.effect, Effect::ContextComplete);
    EXPECT_EQ(call.stream.context, kContext);
#if CUDA_VERSION >= 13000
    cuCtxSynchronize_v2_params p{.ctx = reinterpret_cast<CUcontext>(88)};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2, p).stream.context, 88U);
    p.ctx = nullptr;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2, p).stream.context, kContext);
#endif
}

TEST_F(Effects, Code) {
    cuModuleUnload_params module{};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, module).effect, Effect::CodeUnloaded);
    cuLibraryUnload_params library{};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload, library).effect,
              Effect::CodeUnloaded);
    cuModuleLoadData_params load{};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData, load).effect, Effect::CodeLoaded);
}

TEST_F(Effects, OperationsWithoutAccesses) {
    cuLaunchHostFunc_params host{};
    host.hStream = stream(0x50);
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, host).effect, Effect::Queue);
    EXPECT_EQ(call.operation.kind, OperationKind::HostFunction);
    cuGraphLaunch_params graph{};
    graph.hStream = stream(0x50);
    graph.hGraph = reinterpret_cast<CUgraphExec>(0x77);
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, graph).effect, Effect::Queue);
    EXPECT_EQ(call.exec, ExecHandle{0x77});
    EXPECT_EQ(call.operation.kind, OperationKind::Graph);
    EXPECT_EQ(call.stream.stream, StreamId{0x50});
    EXPECT_THAT(call.accesses, testing::IsEmpty());
}

TEST_F(Effects, OtherFunctionsHaveNone) {
    const int nothing = 0;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuMemGetInfo_v2, nothing).effect, Effect::None);
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_SIZE + 5, nothing).effect, Effect::None);
}

TEST_F(Effects, EveryDecodedFunctionIsListedOnce) {
    const auto functions = Decoder::functions();
    EXPECT_GT(functions.size(), 130U);
    EXPECT_TRUE(std::is_sorted(functions.begin(), functions.end()));
    EXPECT_THAT(functions, testing::Contains(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
}

}  // namespace
}  // namespace cuward::cupti
