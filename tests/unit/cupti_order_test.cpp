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

TEST_F(Effects, ValuesInMemory) {
    cuStreamWaitValue32_v2_params wait{};
    wait.stream = stream(0x50);
    wait.addr = kBlock + 8;
    wait.value = 7;
    wait.flags = CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH;
    const Call& waits = decode(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2, wait);
    EXPECT_EQ(waits.effect, Effect::Queue);
    EXPECT_EQ(waits.stream.stream, StreamId{0x50});
    ASSERT_EQ(waits.values.size(), 1U);
    EXPECT_EQ(waits.values[0].kind, ValueKind::WaitNor);
    EXPECT_EQ(waits.values[0].address, kBlock + 8);
    EXPECT_EQ(waits.values[0].value, 7U);
    EXPECT_FALSE(waits.values[0].is_wide);
    EXPECT_THAT(waits.accesses,
                testing::ElementsAre(exact(ByteRange::linear(kBlock + 8, 4), Access::Read)));
    EXPECT_TRUE(waits.accesses[0].is_value);

    cuStreamWriteValue64_v2_ptsz_params write{};
    write.addr = kBlock + 16;
    write.flags = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    const Call& writes = decode(CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue64_v2_ptsz, write);
    EXPECT_EQ(writes.stream.stream, kPerThreadStream);
    ASSERT_EQ(writes.values.size(), 1U);
    EXPECT_TRUE(writes.values[0].is_write());
    EXPECT_TRUE(writes.values[0].is_wide);
    EXPECT_FALSE(writes.values[0].is_fenced);
    EXPECT_THAT(writes.accesses,
                testing::ElementsAre(exact(ByteRange::linear(kBlock + 16, 8), Access::Write)));
}

TEST_F(Effects, BatchesOfValues) {
    std::array<CUstreamBatchMemOpParams, 3> operations{};
    operations[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    operations[0].waitValue.address = kBlock;
    operations[0].waitValue.value64 = std::uint64_t{1} << 40;
    operations[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    operations[1].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operations[2].writeValue.address = kBlock + 8;
    operations[2].writeValue.value = 9;
    cuStreamBatchMemOp_v2_params batch{};
    batch.stream = stream(0x50);
    batch.paramArray = operations.data();
    batch.count = 3;
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2, batch);
    EXPECT_EQ(c.effect, Effect::Queue);
    ASSERT_EQ(c.values.size(), 2U);
    EXPECT_EQ(c.values[0].kind, ValueKind::WaitEqual);
    EXPECT_EQ(c.values[0].value, std::uint64_t{1} << 40);
    EXPECT_EQ(c.values[1].kind, ValueKind::Write);
    EXPECT_EQ(c.values[1].value, 9U);
    EXPECT_THAT(c.accesses,
                testing::ElementsAre(exact(ByteRange::linear(kBlock, 8), Access::Read),
                                     exact(ByteRange::linear(kBlock + 8, 4), Access::Write)));
}

TEST_F(Effects, Semaphores) {
    CUexternalSemaphore semaphore = reinterpret_cast<CUexternalSemaphore>(0x5e);
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signalled{};
    signalled.params.fence.value = 3;
    cuSignalExternalSemaphoresAsync_params signal{};
    signal.extSemArray = &semaphore;
    signal.paramsArray = &signalled;
    signal.numExtSems = 1;
    signal.stream = stream(0x50);
    const Call& signals = decode(CUPTI_DRIVER_TRACE_CBID_cuSignalExternalSemaphoresAsync, signal);
    ASSERT_EQ(signals.values.size(), 1U);
    const ValueOperation written = signals.values[0];
    EXPECT_TRUE(written.is_write());
    EXPECT_TRUE(signals.accesses.empty());

    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS awaited{};
    awaited.params.fence.value = 2;
    cuWaitExternalSemaphoresAsync_ptsz_params wait{};
    wait.extSemArray = &semaphore;
    wait.paramsArray = &awaited;
    wait.numExtSems = 1;
    const Call& waits = decode(CUPTI_DRIVER_TRACE_CBID_cuWaitExternalSemaphoresAsync_ptsz, wait);
    EXPECT_EQ(waits.stream.stream, kPerThreadStream);
    ASSERT_EQ(waits.values.size(), 1U);
    EXPECT_TRUE(satisfies(written, waits.values[0]));
}

TEST_F(Effects, AttachingMemoryIsAnOperationOfItsStream) {
    cuStreamAttachMemAsync_params attach{};
    attach.hStream = stream(0x50);
    attach.dptr = kManagedBlock;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuStreamAttachMemAsync, attach).effect, Effect::Queue);
    EXPECT_EQ(call.stream.stream, StreamId{0x50});
    EXPECT_TRUE(call.accesses.empty());
}

TEST_F(Effects, EventsThatOthersRecordToo) {
    CUevent opened = nullptr;
    cuIpcOpenEventHandle_params open{};
    open.phEvent = &opened;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuIpcOpenEventHandle, open).effect,
              Effect::EventShared);
    EXPECT_EQ(call.created, &opened);
    cuIpcGetEventHandle_params get{.pHandle = nullptr, .event = event(0x9)};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuIpcGetEventHandle, get).effect, Effect::EventShared);
    EXPECT_EQ(call.events[0], 0x9U);
}

#if CUDA_VERSION >= 12050
TEST_F(Effects, OnWholeContexts) {
    const auto context = reinterpret_cast<CUcontext>(0xc0);
    const auto green = reinterpret_cast<CUgreenCtx>(0x6e);
    cuCtxRecordEvent_params record{.hCtx = context, .hEvent = event(0x9)};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuCtxRecordEvent, record).effect,
              Effect::ContextRecorded);
    EXPECT_EQ(call.stream.context, 0xc0U);
    EXPECT_EQ(call.events[0], 0x9U);
    cuGreenCtxWaitEvent_params wait{.hCtx = green, .hEvent = event(0x9)};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuGreenCtxWaitEvent, wait).effect,
              Effect::ContextWaitsEvent);
    EXPECT_EQ(call.stream.context, 0x6eU);
    CUgreenCtx made = nullptr;
    cuGreenCtxCreate_params create{};
    create.phCtx = &made;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuGreenCtxCreate, create).effect,
              Effect::GreenContextCreated);
    EXPECT_EQ(call.stream.context, kContext);
    CUcontext converted = nullptr;
    cuCtxFromGreenCtx_params convert{.pContext = &converted, .hCtx = green};
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuCtxFromGreenCtx, convert).effect,
              Effect::GreenContextConverted);
    EXPECT_EQ(call.green, 0x6eU);
    CUstream stream = nullptr;
    cuGreenCtxStreamCreate_params created{};
    created.phStream = &stream;
    created.greenCtx = green;
    created.flags = CU_STREAM_NON_BLOCKING;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuGreenCtxStreamCreate, created).green, 0x6eU);
    EXPECT_FALSE(call.blocking);
}
#endif

TEST_F(Effects, EventsThatALaunchRecords) {
    std::array<CUlaunchAttribute, 2> attributes{};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    attributes[0].value.programmaticEvent.event = event(0x9);
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    attributes[1].value.launchCompletionEvent.event = event(0x8);
    CUlaunchConfig config{};
    config.attrs = attributes.data();
    config.numAttrs = 2;
    cuLaunchKernelEx_params launch{};
    launch.config = &config;
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, launch);
    EXPECT_EQ(c.operation.trigger_event, 0x9U);
    EXPECT_EQ(c.operation.start_event, 0x8U);
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
    cuLaunchGridAsync_params launch{};
    launch.hStream = stream(0x50);
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync, launch).effect, Effect::Queue);
    EXPECT_EQ(call.operation.kind, OperationKind::Kernel);
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
