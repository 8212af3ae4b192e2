#include "cupti/decode.hpp"

#include <array>
#include <string_view>

#include "cupti/decode_families.hpp"
#include "cupti/decode_graphs.hpp"
#include "cupti/driver_params.hpp"

namespace cuward::cupti {
namespace {

struct Function {
    const char* api = nullptr;  ///< null: not decoded
    void (*decode)(const Decoder&, const DriverCall&, Call&) = nullptr;
    StreamId default_stream = kLegacyStream;  ///< what stream handle 0, or none, means here
};

using Table = std::array<Function, CUPTI_DRIVER_TRACE_CBID_SIZE>;

struct NoParams {};

template <typename Family, typename Params>
void decode_as(const Decoder& decoder, const DriverCall& driver_call, Call& call) {
    Family::decode(decoder, driver_call, *static_cast<const Params*>(driver_call.params), call);
}
template <typename Family>
void decode_without_params(const Decoder& decoder, const DriverCall& driver_call, Call& call) {
    Family::decode(decoder, driver_call, NoParams{}, call);
}

/// "_ptds" and "_ptsz" entry points are what the program calls when it is compiled with
/// --default-stream per-thread.
constexpr StreamId default_stream(std::string_view suffix) {
    const bool per_thread = suffix.ends_with("_ptds") || suffix.ends_with("_ptsz");
    return per_thread ? kPerThreadStream : kLegacyStream;
}

template <typename Family, typename Params>
constexpr void add(Table& table, std::uint32_t number, const char* api, std::string_view suffix) {
    table[number] = {api, &decode_as<Family, Params>, default_stream(suffix)};
}
template <typename Family>
constexpr void add_plain(Table& table, std::uint32_t number, const char* api) {
    table[number] = {api, &decode_without_params<Family>, kLegacyStream};
}

// One line a function: its name, and the suffix that makes it the driver's symbol. The names must
// not go from macro to macro, for cuda.h makes some of them macros too. Left out are the entry
// points from before CUDA 3.2, which hold addresses of 32 bits.
#define ENTRY(family, name, suffix)                                                          \
    add<family, name##suffix##_params>(table, CUPTI_DRIVER_TRACE_CBID_##name##suffix, #name, \
                                       #suffix)
#define ENTRIES_PTSZ(family, name, suffix)                                                        \
    add<family, name##suffix##_params>(table, CUPTI_DRIVER_TRACE_CBID_##name##suffix, #name, ""); \
    add<family, name##suffix##_ptsz_params>(table, CUPTI_DRIVER_TRACE_CBID_##name##suffix##_ptsz, \
                                            #name, "_ptsz")
#define ENTRIES_PTDS(family, name, suffix)                                                        \
    add<family, name##suffix##_params>(table, CUPTI_DRIVER_TRACE_CBID_##name##suffix, #name, ""); \
    add<family, name##suffix##_ptds_params>(table, CUPTI_DRIVER_TRACE_CBID_##name##suffix##_ptds, \
                                            #name, "_ptds")
#define ENTRY_WITHOUT_PARAMS(family, name) \
    add_plain<family>(table, CUPTI_DRIVER_TRACE_CBID_##name, #name)

constexpr void add_launches(Table& table) {
    using HostFunction = QueueOnly<OperationKind::HostFunction>;
    ENTRIES_PTSZ(LaunchKernel, cuLaunchKernel, );
    ENTRIES_PTSZ(LaunchKernel, cuLaunchCooperativeKernel, );
    ENTRIES_PTSZ(LaunchKernelEx, cuLaunchKernelEx, );
    ENTRIES_PTSZ(HostFunction, cuLaunchHostFunc, );
    ENTRIES_PTSZ(HostFunction, cuStreamAddCallback, );
    ENTRIES_PTSZ(GraphLaunch, cuGraphLaunch, );
}

constexpr void add_graphs(Table& table) {
    ENTRY(GraphCreate, cuGraphCreate, );
    ENTRY(GraphClone, cuGraphClone, );
    ENTRY(GraphDestroy, cuGraphDestroy, );
    ENTRY(AddNode, cuGraphAddKernelNode, );
    ENTRY(AddNode, cuGraphAddKernelNode, _v2);
    ENTRY(AddNode, cuGraphAddMemcpyNode, );
    ENTRY(AddNode, cuGraphAddMemsetNode, );
    ENTRY(AddNode, cuGraphAddHostNode, );
    ENTRY(AddNode, cuGraphAddChildGraphNode, );
    ENTRY(AddNode, cuGraphAddNode, );
    ENTRY(AddNode, cuGraphAddNode, _v2);
    ENTRY(AddAllocNode, cuGraphAddMemAllocNode, );
    ENTRY(ChangeNode, cuGraphKernelNodeSetParams, );
    ENTRY(ChangeNode, cuGraphKernelNodeSetParams, _v2);
    ENTRY(ChangeNode, cuGraphMemcpyNodeSetParams, );
    ENTRY(ChangeNode, cuGraphMemsetNodeSetParams, );
    ENTRY(ChangeNode, cuGraphNodeSetParams, );
    ENTRY(DestroyNode, cuGraphDestroyNode, );
    ENTRY(GraphInstantiate, cuGraphInstantiate, );
    ENTRY(GraphInstantiate, cuGraphInstantiate, _v2);
    ENTRY(GraphInstantiate, cuGraphInstantiateWithFlags, );
    ENTRIES_PTSZ(GraphInstantiate, cuGraphInstantiateWithParams, );
    ENTRY(GraphUpdate, cuGraphExecUpdate, );
    ENTRY(GraphUpdate, cuGraphExecUpdate, _v2);
    ENTRY(ChangeNode, cuGraphExecKernelNodeSetParams, );
    ENTRY(ChangeNode, cuGraphExecKernelNodeSetParams, _v2);
    ENTRY(ChangeNode, cuGraphExecMemcpyNodeSetParams, );
    ENTRY(ChangeNode, cuGraphExecMemsetNodeSetParams, );
    ENTRY(ChangeNode, cuGraphExecChildGraphNodeSetParams, );
    ENTRY(ChangeNode, cuGraphExecNodeSetParams, );
    ENTRY(EnableNode, cuGraphNodeSetEnabled, );
    ENTRY(ExecDestroy, cuGraphExecDestroy, );
}

constexpr void add_copies(Table& table) {
    using Migration = QueueOnly<OperationKind::Copy>;
    ENTRIES_PTDS(Copy1D, cuMemcpy, );
    ENTRIES_PTDS(Copy1D, cuMemcpyPeer, );
    ENTRIES_PTDS(Copy1D, cuMemcpyHtoD, _v2);
    ENTRIES_PTDS(Copy1D, cuMemcpyDtoH, _v2);
    ENTRIES_PTDS(Copy1D, cuMemcpyDtoD, _v2);
    ENTRIES_PTDS(Copy1D, cuMemcpyDtoA, _v2);
    ENTRIES_PTDS(Copy1D, cuMemcpyAtoD, _v2);
    ENTRIES_PTDS(Copy1D, cuMemcpyHtoA, _v2);
    ENTRIES_PTDS(Copy1D, cuMemcpyAtoH, _v2);
    ENTRIES_PTDS(Copy1D, cuMemcpyAtoA, _v2);
    ENTRIES_PTSZ(Copy1D, cuMemcpyAsync, );
    ENTRIES_PTSZ(Copy1D, cuMemcpyPeerAsync, );
    ENTRIES_PTSZ(Copy1D, cuMemcpyHtoDAsync, _v2);
    ENTRIES_PTSZ(Copy1D, cuMemcpyDtoHAsync, _v2);
    ENTRIES_PTSZ(Copy1D, cuMemcpyDtoDAsync, _v2);
    ENTRIES_PTSZ(Copy1D, cuMemcpyHtoAAsync, _v2);
    ENTRIES_PTSZ(Copy1D, cuMemcpyAtoHAsync, _v2);
    ENTRIES_PTDS(CopyDescribed, cuMemcpy2D, _v2);
    ENTRIES_PTDS(CopyDescribed, cuMemcpy2DUnaligned, _v2);
    ENTRIES_PTDS(CopyDescribed, cuMemcpy3D, _v2);
    ENTRIES_PTDS(CopyDescribed, cuMemcpy3DPeer, );
    ENTRIES_PTSZ(CopyDescribed, cuMemcpy2DAsync, _v2);
    ENTRIES_PTSZ(CopyDescribed, cuMemcpy3DAsync, _v2);
    ENTRIES_PTSZ(CopyDescribed, cuMemcpy3DPeerAsync, );
#if CUDA_VERSION >= 12080
    ENTRIES_PTSZ(CopyBatch, cuMemcpyBatchAsync, );
    ENTRIES_PTSZ(CopyBatch3D, cuMemcpy3DBatchAsync, );
#endif
#if CUDA_VERSION >= 13000
    ENTRIES_PTSZ(CopyBatch, cuMemcpyBatchAsync, _v2);
    ENTRIES_PTSZ(CopyBatch3D, cuMemcpy3DBatchAsync, _v2);
    ENTRIES_PTSZ(Migration, cuMemPrefetchBatchAsync, );
#endif
    ENTRIES_PTSZ(Migration, cuMemPrefetchAsync, );
    ENTRIES_PTSZ(Migration, cuMemPrefetchAsync, _v2);
}

constexpr void add_memsets(Table& table) {
    ENTRIES_PTDS(Memset, cuMemsetD8, _v2);
    ENTRIES_PTDS(Memset, cuMemsetD16, _v2);
    ENTRIES_PTDS(Memset, cuMemsetD32, _v2);
    ENTRIES_PTDS(Memset, cuMemsetD2D8, _v2);
    ENTRIES_PTDS(Memset, cuMemsetD2D16, _v2);
    ENTRIES_PTDS(Memset, cuMemsetD2D32, _v2);
    ENTRIES_PTSZ(Memset, cuMemsetD8Async, );
    ENTRIES_PTSZ(Memset, cuMemsetD16Async, );
    ENTRIES_PTSZ(Memset, cuMemsetD32Async, );
    ENTRIES_PTSZ(Memset, cuMemsetD2D8Async, );
    ENTRIES_PTSZ(Memset, cuMemsetD2D16Async, );
    ENTRIES_PTSZ(Memset, cuMemsetD2D32Async, );
}

constexpr void add_streams(Table& table) {
    using Destroy = OnStream<Effect::StreamDestroyed>;
    using Complete = OnStream<Effect::StreamComplete>;
    using Wait = OnStreamAndEvent<Effect::StreamWaitsEvent>;
    using BeginCapture = OnStream<Effect::CaptureBegins>;
    ENTRY(CreateStream, cuStreamCreate, );
    ENTRY(CreateStream, cuStreamCreateWithPriority, );
#if CUDA_VERSION >= 12050
    ENTRY(CreateStream, cuGreenCtxStreamCreate, );
#endif
    ENTRY(Destroy, cuStreamDestroy, );
    ENTRY(Destroy, cuStreamDestroy, _v2);
    ENTRIES_PTSZ(Complete, cuStreamSynchronize, );
    ENTRIES_PTSZ(Complete, cuStreamQuery, );
    ENTRIES_PTSZ(Wait, cuStreamWaitEvent, );
    ENTRIES_PTSZ(WaitForValue, cuStreamWaitValue32, );
    ENTRIES_PTSZ(WaitForValue, cuStreamWaitValue32, _v2);
    ENTRIES_PTSZ(WaitForValue, cuStreamWaitValue64, );
    ENTRIES_PTSZ(WaitForValue, cuStreamWaitValue64, _v2);
    ENTRIES_PTSZ(WaitForValueInBatch, cuStreamBatchMemOp, );
    ENTRIES_PTSZ(WaitForValueInBatch, cuStreamBatchMemOp, _v2);
    ENTRIES_PTSZ(BeginCapture, cuStreamBeginCapture, );
    ENTRIES_PTSZ(BeginCapture, cuStreamBeginCapture, _v2);
    ENTRIES_PTSZ(BeginCapture, cuStreamBeginCaptureToGraph, );
    ENTRIES_PTSZ(EndCapture, cuStreamEndCapture, );
}

constexpr void add_events(Table& table) {
    using Destroy = OnEvent<Effect::EventDestroyed>;
    using Complete = OnEvent<Effect::EventsComplete>;
    using Record = OnStreamAndEvent<Effect::EventRecorded>;
    ENTRY(CreateEvent, cuEventCreate, );
    ENTRY(Destroy, cuEventDestroy, );
    ENTRY(Destroy, cuEventDestroy, _v2);
    ENTRIES_PTSZ(Record, cuEventRecord, );
    ENTRIES_PTSZ(Record, cuEventRecordWithFlags, );
    ENTRY(Complete, cuEventSynchronize, );
    ENTRY(Complete, cuEventQuery, );
    ENTRY(ElapsedTime, cuEventElapsedTime, );
#if CUDA_VERSION >= 12080
    ENTRY(ElapsedTime, cuEventElapsedTime, _v2);
#endif
}

constexpr void add_contexts_and_code(Table& table) {
    using Load = OnContext<Effect::CodeLoaded>;
    using Unload = OnContext<Effect::CodeUnloaded>;
    using Gone = OnContext<Effect::CodeGone>;
    ENTRY_WITHOUT_PARAMS(SynchronizeContext, cuCtxSynchronize);
#if CUDA_VERSION >= 13000
    ENTRY(SynchronizeContext, cuCtxSynchronize, _v2);
#endif
    ENTRY_WITHOUT_PARAMS(Load, cuModuleLoad);
    ENTRY_WITHOUT_PARAMS(Load, cuModuleLoadData);
    ENTRY_WITHOUT_PARAMS(Load, cuModuleLoadDataEx);
    ENTRY_WITHOUT_PARAMS(Load, cuModuleLoadFatBinary);
    ENTRY_WITHOUT_PARAMS(Unload, cuModuleUnload);
    ENTRY_WITHOUT_PARAMS(Unload, cuLibraryUnload);
    ENTRY_WITHOUT_PARAMS(Gone, cuCtxDestroy);
    ENTRY_WITHOUT_PARAMS(Gone, cuCtxDestroy_v2);
    ENTRY_WITHOUT_PARAMS(Gone, cuDevicePrimaryCtxRelease);
    ENTRY_WITHOUT_PARAMS(Gone, cuDevicePrimaryCtxRelease_v2);
    ENTRY_WITHOUT_PARAMS(Gone, cuDevicePrimaryCtxReset);
    ENTRY_WITHOUT_PARAMS(Gone, cuDevicePrimaryCtxReset_v2);
}

constexpr Table make_table() {
    Table table{};
    add_launches(table);
    add_graphs(table);
    add_copies(table);
    add_memsets(table);
    add_streams(table);
    add_events(table);
    add_contexts_and_code(table);
    return table;
}

constexpr Table kTable = make_table();

}  // namespace

std::vector<std::uint32_t> Decoder::functions() {
    std::vector<std::uint32_t> decoded;
    for (std::uint32_t function = 0; function < kTable.size(); ++function) {
        if (kTable[function].api != nullptr) {
            decoded.push_back(function);
        }
    }
    return decoded;
}

void Decoder::decode(const DriverCall& driver_call, Call& call) const {
    const bool known =
        driver_call.function < kTable.size() && kTable[driver_call.function].api != nullptr;
    const Function function = known ? kTable[driver_call.function] : Function{};
    call.begin(known ? function.api : "", driver_call.context, function.default_stream);
    if (known) {
        function.decode(*this, driver_call, call);
    }
}

}  // namespace cuward::cupti
