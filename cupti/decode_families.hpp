// What the families of driver functions mean. Each decoder is written once and fits every version
// of a function (base, _v2, _ptds, _ptsz), whose parameter structs have fields of the same names.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <concepts>
#include <cstdint>

#include "cupti/call.hpp"
#include "cupti/copies.hpp"
#include "cupti/decode.hpp"
#include "cupti/launches.hpp"

namespace cuward::cupti {

template <typename Params>
concept HasStream = requires(const Params& params) {
    { params.hStream } -> std::convertible_to<CUstream>;
};

/// Names the stream: a handle of 0 stays what the entry point makes of it ("Stream synchronization
/// behavior"); CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are StreamIds as they are.
inline void use_stream(CUstream handle, Call& call) {
    if (handle != nullptr) {
        call.stream.stream = StreamId{reinterpret_cast<std::uint64_t>(handle)};
    }
}

template <typename Handle>
std::uint64_t value_of(Handle* handle) {
    return reinterpret_cast<std::uint64_t>(handle);
}

/// An operation on the call's stream, with no accesses yet.
template <typename Params>
void queue(const Params& params, OperationKind kind, Call& call) {
    if constexpr (HasStream<Params>) {
        use_stream(params.hStream, call);
    }
    call.effect = Effect::Queue;
    call.operation.kind = kind;
}

template <typename Params>
constexpr CallForm kFormOf = HasStream<Params> ? CallForm::Async : CallForm::Synchronous;

// --- launches -----------------------------------------------------------------------------------

struct LaunchKernel {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall& site, const Params& params,
                       Call& call) {
        queue(params, OperationKind::Kernel, call);
        call.operation.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
        call.operation.threads = {params.blockDimX, params.blockDimY, params.blockDimZ};
        void** extra = nullptr;
        if constexpr (requires { params.extra; }) {
            extra = params.extra;
        }
        add_kernel_accesses(decoder,
                            {.function = params.f,
                             .symbol = site.symbol,
                             .params = params.kernelParams,
                             .extra = extra},
                            call);
    }
};

/// Events that a launch records by itself (CUlaunchAttributeID).
inline void add_launch_events(const CUlaunchConfig& config, Call& call) {
    for (unsigned int i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
        const CUlaunchAttribute& attribute = config.attrs[i];
        if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
            call.operation.trigger_event = value_of(attribute.value.programmaticEvent.event);
        } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
            call.operation.start_event = value_of(attribute.value.launchCompletionEvent.event);
        }
    }
}

struct LaunchKernelEx {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall& site, const Params& params,
                       Call& call) {
        if (params.config == nullptr) {
            return;
        }
        const CUlaunchConfig& config = *params.config;
        queue(config, OperationKind::Kernel, call);
        call.operation.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
        call.operation.threads = {config.blockDimX, config.blockDimY, config.blockDimZ};
        add_launch_events(config, call);
        add_kernel_accesses(decoder,
                            {.function = params.f,
                             .symbol = site.symbol,
                             .params = params.kernelParams,
                             .extra = params.extra},
                            call);
    }
};

/// Operations that touch no memory of the program: host functions, graphs, migrations.
template <OperationKind kKind>
struct QueueOnly {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        queue(params, kKind, call);
    }
};

/// A graph's launch; launches of one executable graph come after each other, as if each recorded an
/// event that the next waits for (Driver API manual, cuGraphLaunch).
struct GraphLaunch {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        queue(params, OperationKind::Graph, call);
        if constexpr (requires { params.hGraphExec; }) {
            call.exec = ExecHandle{value_of(params.hGraphExec)};
        } else {
            call.exec = ExecHandle{value_of(params.hGraph)};
        }
    }
};

// --- copies -------------------------------------------------------------------------------------

/// 1D copies: the names of the two fields tell what is declared about either side.
struct Copy1D {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        queue(params, OperationKind::Copy, call);
        add_copy(decoder.blocks(), kFormOf<Params>, source(decoder.blocks(), params),
                 destination(decoder.blocks(), params), call);
    }

  private:
    template <typename Params>
    static CopySide source(const BlockLookup& blocks, const Params& params) {
        if constexpr (requires { params.srcHost; }) {
            return linear_side(Declared::Host, value_of(params.srcHost), params.ByteCount);
        } else if constexpr (requires { params.srcDevice; }) {
            return linear_side(Declared::Device, params.srcDevice, params.ByteCount);
        } else if constexpr (requires { params.srcArray; }) {
            return array_side(blocks, params.srcArray, params.srcOffset, params.ByteCount);
        } else {
            return linear_side(Declared::Unified, params.src, params.ByteCount);
        }
    }
    template <typename Params>
    static CopySide destination(const BlockLookup& blocks, const Params& params) {
        if constexpr (requires { params.dstHost; }) {
            return linear_side(Declared::Host, value_of(params.dstHost), params.ByteCount);
        } else if constexpr (requires { params.dstDevice; }) {
            return linear_side(Declared::Device, params.dstDevice, params.ByteCount);
        } else if constexpr (requires { params.dstArray; }) {
            return array_side(blocks, params.dstArray, params.dstOffset, params.ByteCount);
        } else {
            return linear_side(Declared::Unified, params.dst, params.ByteCount);
        }
    }
};

/// 2D, 3D and 3D peer copies, described by a struct that the parameters point to.
struct CopyDescribed {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        if (params.pCopy == nullptr) {
            return;
        }
        queue(params, OperationKind::Copy, call);
        add_copy(decoder.blocks(), kFormOf<Params>, source_side(decoder.blocks(), *params.pCopy),
                 destination_side(decoder.blocks(), *params.pCopy), call);
    }
};

struct CopyBatch {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        queue(params, OperationKind::Copy, call);
        call.operation.is_batch = true;
        for (std::size_t i = 0; i < params.count; ++i) {
            add_batch_copy(decoder.blocks(),
                           linear_side(Declared::Unified, params.srcs[i], params.sizes[i]),
                           linear_side(Declared::Unified, params.dsts[i], params.sizes[i]), call);
        }
    }
};

struct CopyBatch3D {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        queue(params, OperationKind::Copy, call);
        call.operation.is_batch = true;
        for (std::size_t i = 0; i < params.numOps; ++i) {
            add_batch_copy(decoder.blocks(), params.opList[i], call);
        }
    }
};

/// A batch of decompressions (Driver API manual, cuMemBatchDecompressAsync): each reads its source
/// and writes its destination, of a length that only the data tells, and how long that was.
struct Decompress {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        use_stream(params.stream, call);
        queue(params, OperationKind::Copy, call);
        for (std::size_t i = 0; i < params.count; ++i) {
            const auto& one = params.paramsArray[i];
            add_batch_copy(decoder.blocks(),
                           linear_side(Declared::Unified, value_of(one.src), one.srcNumBytes),
                           {.declared = Declared::Unified,
                            .range = {.lo = value_of(one.dst)},
                            .range_exact = false},
                           call);
            add_memset(decoder.blocks(), CallForm::Async,
                       ByteRange::linear(value_of(one.dstActBytes), sizeof(*one.dstActBytes)),
                       call);
        }
    }
};

// --- memsets ------------------------------------------------------------------------------------

struct Memset {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        queue(params, OperationKind::Memset, call);
        const std::uint64_t bytes = element_size(params) * params_count(params);
        ByteRange range = ByteRange::linear(params.dstDevice, bytes);
        if constexpr (requires { params.Height; }) {
            range.pitch = params.dstPitch;
            range.rows = params.Height;
        }
        add_memset(decoder.blocks(), kFormOf<Params>, range, call);
    }

  private:
    template <typename Params>
    static std::uint64_t element_size(const Params& params) {
        if constexpr (requires { params.uc; }) {
            return sizeof(params.uc);
        } else if constexpr (requires { params.us; }) {
            return sizeof(params.us);
        } else {
            return sizeof(params.ui);
        }
    }
    template <typename Params>
    static std::uint64_t params_count(const Params& params) {
        if constexpr (requires { params.Width; }) {
            return params.Width;
        } else {
            return params.N;
        }
    }
};

// --- streams and events -------------------------------------------------------------------------

struct CreateStream {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::StreamCreated;
        call.created = params.phStream;
        unsigned int flags = 0;
        if constexpr (requires { params.Flags; }) {
            flags = params.Flags;
        } else {
            flags = params.flags;
        }
        call.blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
        if constexpr (requires { params.greenCtx; }) {
            call.green = value_of(params.greenCtx);
        }
    }
};

struct CreateEvent {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::EventCreated;
        call.created = params.phEvent;
    }
};

/// Anything whose meaning is its effect on `hStream`.
template <Effect kEffect>
struct OnStream {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        use_stream(params.hStream, call);
        call.effect = kEffect;
    }
};

/// The end of a capture, which gives a graph.
struct EndCapture {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        use_stream(params.hStream, call);
        call.effect = Effect::CaptureEnds;
        call.created = params.phGraph;
    }
};

/// Anything whose meaning is its effect on `hEvent`.
template <Effect kEffect>
struct OnEvent {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = kEffect;
        call.events[0] = value_of(params.hEvent);
    }
};

/// Whether one of a batch of operations on values in memory, of a stream or of a node, is a wait.
template <typename Params>
bool waits_in_batch(const Params& params) {
    const auto waits = [](const CUstreamBatchMemOpParams& operation) {
        return operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
               operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    };
    return params.paramArray != nullptr &&
           std::any_of(params.paramArray, params.paramArray + params.count, waits);
}

/// Record and wait: `hEvent` on `hStream`. In a capture, a flag of the same value for both makes it
/// a node that records or waits whenever the graph runs.
template <Effect kEffect>
struct OnStreamAndEvent {
    static_assert(int{CU_EVENT_RECORD_EXTERNAL} == int{CU_EVENT_WAIT_EXTERNAL});

    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        use_stream(params.hStream, call);
        call.effect = kEffect;
        call.events[0] = value_of(params.hEvent);
        unsigned int flags = 0;
        if constexpr (requires { params.flags; }) {
            flags = params.flags;
        } else if constexpr (requires { params.Flags; }) {
            flags = params.Flags;
        }
        call.is_external = (flags & CU_EVENT_RECORD_EXTERNAL) != 0;
    }
};

/// Succeeds only when both events are complete.
struct ElapsedTime {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::EventsComplete;
        call.events = {value_of(params.hStart), value_of(params.hEnd)};
    }
};

/// Events of several processes (Driver API manual, cuIpcGetEventHandle and cuIpcOpenEventHandle).
struct ShareEvent {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::EventShared;
        if constexpr (requires { params.phEvent; }) {
            call.created = params.phEvent;
        } else {
            call.events[0] = value_of(params.event);
        }
    }
};

// --- contexts and code --------------------------------------------------------------------------

struct SynchronizeContext {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::ContextComplete;
        if constexpr (requires { params.ctx; }) {
            if (params.ctx != nullptr) {
                call.stream.context = value_of(params.ctx);
            }
        }
    }
};

/// Record and wait of a whole context: `hEvent` in `hCtx`, which may be a green one.
template <Effect kEffect>
struct OnContextAndEvent {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = kEffect;
        call.stream.context = value_of(params.hCtx);
        call.events[0] = value_of(params.hEvent);
    }
};

struct CreateGreenContext {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GreenContextCreated;
        call.created = params.phCtx;
    }
};

struct ConvertGreenContext {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GreenContextConverted;
        call.created = params.pContext;
        call.green = value_of(params.hCtx);
    }
};

/// Functions without parameters have no struct; the current context is all there is.
template <Effect kEffect>
struct OnContext {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params&, Call& call) {
        call.effect = kEffect;
    }
};

}  // namespace cuward::cupti
