// What the functions that build graphs mean. Like the other families, each decoder fits every
// version of a function.
#pragma once

#include <cuda.h>

#include "cupti/call.hpp"
#include "cupti/copies.hpp"
#include "cupti/decode.hpp"
#include "cupti/decode_families.hpp"
#include "cupti/launches.hpp"

namespace cuward::cupti {

// --- what a node does: one overload for each kind of parameters; false: the node is not watched
// ---

template <typename Params>
concept KernelNodeParams = requires(const Params& params) {
    params.func;
    params.gridDimX;
};

template <KernelNodeParams Params>
bool describe_node(const Decoder& decoder, const Params& params, Call& call) {
    call.operation.kind = OperationKind::Kernel;
    call.operation.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
    call.operation.threads = {params.blockDimX, params.blockDimY, params.blockDimZ};
    CUfunction function = params.func;
    if constexpr (requires { params.kern; }) {
        if (function == nullptr) {
            function = reinterpret_cast<CUfunction>(params.kern);
        }
    }
    add_kernel_accesses(decoder,
                        {.function = function,
                         .symbol = nullptr,
                         .params = params.kernelParams,
                         .extra = params.extra},
                        call);
    return true;
}

inline bool describe_node(const Decoder& decoder, const CUDA_MEMCPY3D& params, Call& call) {
    call.operation.kind = OperationKind::Copy;
    add_copy(decoder.blocks(), CallForm::Async, source_side(decoder.blocks(), params),
             destination_side(decoder.blocks(), params), call);
    return true;
}

template <typename Params>
concept MemsetNodeParams = requires(const Params& params) {
    params.elementSize;
};

template <MemsetNodeParams Params>
bool describe_node(const Decoder& decoder, const Params& params, Call& call) {
    call.operation.kind = OperationKind::Memset;
    ByteRange range = ByteRange::linear(params.dst, params.elementSize * params.width);
    range.pitch = params.pitch;
    range.rows = params.height;
    add_memset(decoder.blocks(), CallForm::Async, range, call);
    return true;
}

inline bool describe_node(const Decoder&, const CUDA_HOST_NODE_PARAMS&, Call& call) {
    call.operation.kind = OperationKind::HostFunction;
    return true;
}

template <bool kRecords>
bool describe_event_node(CUevent event, Call& call) {
    call.events[kRecords ? 0 : 1] = value_of(event);
    return true;
}

template <typename Params>
concept BatchNodeParams = requires(const Params& params) {
    params.paramArray;
    params.count;
};

/// Who writes the value that a node waits for is decided in memory.
template <BatchNodeParams Params>
bool describe_node(const Decoder&, const Params& params, Call& call) {
    call.waits_for_unknown = waits_in_batch(params);
    return true;
}

/// The driver gives the memory an address for as long as the graph lives.
template <typename Params>
requires requires(const Params& params) {
    params.bytesize;
}
bool describe_node(const Decoder&, const Params& params, Call& call) {
    call.operation.kind = OperationKind::Allocation;
    call.memory.bytes = params.bytesize;
    call.memory.device = params.poolProps.location.id;
    call.allocated = &params.dptr;
    return true;
}

inline bool describe_free(CUdeviceptr address, Call& call) {
    call.operation.kind = OperationKind::Free;
    call.memory.ptr = address;
    return true;
}

inline bool describe_semaphore_wait(Call& call) {
    call.waits_for_unknown = true;
    return true;
}

inline bool describe_node(const Decoder&, const CUDA_EXT_SEM_WAIT_NODE_PARAMS&, Call& call) {
    return describe_semaphore_wait(call);
}

inline bool describe_node(const Decoder&, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS&, Call&) {
    return true;
}

inline bool describe_node(const Decoder& decoder, const CUgraphNodeParams& params, Call& call) {
    switch (params.type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return describe_node(decoder, params.kernel, call);
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return describe_node(decoder, params.memcpy.copyParams, call);
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return describe_node(decoder, params.memset, call);
        case CU_GRAPH_NODE_TYPE_HOST:
            call.operation.kind = OperationKind::HostFunction;
            return true;
        case CU_GRAPH_NODE_TYPE_GRAPH:
            call.operation.kind = OperationKind::Graph;
            call.child = GraphHandle{value_of(params.graph.graph)};
#if CUDA_VERSION >= 13000
            call.owns_child = params.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
#endif
            return true;
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            call.operation.kind = OperationKind::Graph;
            call.bodies = &params.conditional.phGraph_out;
            call.body_count = params.conditional.size;
            return true;
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            return describe_event_node<true>(params.eventRecord.event, call);
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return describe_event_node<false>(params.eventWait.event, call);
        case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
            return describe_node(decoder, params.memOp, call);
        case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
            return describe_semaphore_wait(call);
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            return describe_node(decoder, params.alloc, call);
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            return describe_free(params.free.dptr, call);
        case CU_GRAPH_NODE_TYPE_EMPTY:
        case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
            return true;
        default:
            return false;
    }
}

/// The same, from the parameters of the call, which name the node's parameters by its kind.
template <typename Params>
bool describe_node_of(const Decoder& decoder, const Params& params, Call& call) {
    const auto describe = [&](const auto* node_params) {
        return node_params != nullptr && describe_node(decoder, *node_params, call);
    };
    if constexpr (requires { params.childGraph; }) {
        call.operation.kind = OperationKind::Graph;
        call.child = GraphHandle{value_of(params.childGraph)};
        return true;
    } else if constexpr (requires { params.copyParams; }) {
        return describe(params.copyParams);
    } else if constexpr (requires { params.memsetParams; }) {
        return describe(params.memsetParams);
    } else if constexpr (requires { params.dptr; }) {
        return describe_free(params.dptr, call);
    } else if constexpr (requires { params.nodeParams; }) {
        return describe(params.nodeParams);
    } else {
        return true;  // an empty node
    }
}

// --- graphs and their nodes ----------------------------------------------------------------------

struct GraphCreate {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphCreated;
        call.created = params.phGraph;
    }
};

struct GraphClone {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphCloned;
        call.graph = GraphHandle{value_of(params.originalGraph)};
        call.created = params.phGraphClone;
    }
};

struct GraphDestroy {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphDestroyed;
        call.graph = GraphHandle{value_of(params.hGraph)};
    }
};

struct AddNode {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        call.graph = GraphHandle{value_of(params.hGraph)};
        call.created = params.phGraphNode;
        if (describe_node_of(decoder, params, call)) {
            call.effect = Effect::GraphNodeAdded;
        }
    }
};

/// New parameters for a node of a graph, or of an executable graph.
struct ChangeNode {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        call.node = NodeHandle{value_of(params.hNode)};
        if constexpr (requires { params.hGraphExec; }) {
            call.exec = ExecHandle{value_of(params.hGraphExec)};
        }
        if (describe_node_of(decoder, params, call)) {
            call.effect = Effect::GraphNodeChanged;
        }
    }
};

/// Nodes that record an event or wait for one, added and changed.
template <bool kRecords>
struct AddEventNode {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphNodeAdded;
        call.graph = GraphHandle{value_of(params.hGraph)};
        call.created = params.phGraphNode;
        describe_event_node<kRecords>(params.event, call);
    }
};

template <bool kRecords>
struct ChangeEventNode {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphNodeChanged;
        call.node = NodeHandle{value_of(params.hNode)};
        if constexpr (requires { params.hGraphExec; }) {
            call.exec = ExecHandle{value_of(params.hGraphExec)};
        }
        describe_event_node<kRecords>(params.event, call);
    }
};

struct EnableNode {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphNodeEnabled;
        call.exec = ExecHandle{value_of(params.hGraphExec)};
        call.node = NodeHandle{value_of(params.hNode)};
        call.enabled = params.isEnabled != 0;
    }
};

struct DestroyNode {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphNodeDestroyed;
        call.node = NodeHandle{value_of(params.hNode)};
    }
};

// --- memory, where a capture makes nodes of calls ------------------------------------------------

struct AllocateAsync {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        use_stream(params.hStream, call);
        call.effect = Effect::MemoryNodeCaptured;
        call.operation.kind = OperationKind::Allocation;
        call.memory.bytes = params.bytesize;
        call.allocated = params.dptr;
    }
};

struct FreeAsync {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        use_stream(params.hStream, call);
        call.effect = Effect::MemoryNodeCaptured;
        describe_free(params.dptr, call);
    }
};

// --- executable graphs ---------------------------------------------------------------------------

struct GraphInstantiate {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphInstantiated;
        call.graph = GraphHandle{value_of(params.hGraph)};
        call.created = params.phGraphExec;
        unsigned long long flags = 0;
        if constexpr (requires { params.instantiateParams; }) {
            flags = params.instantiateParams != nullptr ? params.instantiateParams->flags : 0;
        } else if constexpr (requires { params.flags; }) {
            flags = params.flags;
        }
        call.frees_first = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    }
};

struct GraphUpdate {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphUpdated;
        call.exec = ExecHandle{value_of(params.hGraphExec)};
        call.graph = GraphHandle{value_of(params.hGraph)};
    }
};

struct ExecDestroy {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::GraphExecDestroyed;
        call.exec = ExecHandle{value_of(params.hGraphExec)};
    }
};

}  // namespace cuward::cupti
