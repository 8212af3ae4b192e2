#include "cupti/graph_watch.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

namespace cuward::cupti {
namespace {

/// Where a node was captured or added.
CallSite site_of(const GraphWork& node) {
    return {
        .api = node.operation.api, .stack = node.operation.stack, .thread = node.operation.thread};
}

FreeRequest request_to_free(const StreamRef& stream, Address ptr, const CallSite& site) {
    return {.kind = FreeKind::Async,
            .ptr = ptr,
            .context = stream.context,
            .stream = stream,
            .site = site};
}

}  // namespace

void GraphWatch::launched(Call& call) {
    // Launches of one executable graph come after each other (Driver API manual, cuGraphLaunch).
    call.operation.turn = static_cast<std::uint64_t>(call.exec);
    PreparedLaunch prepared = graphs_.launch(call.exec);
    if (!prepared.changed.empty()) {
        compare_nodes(call, call.exec, prepared.changed);
    }
    call.launch = prepared.touched;
    call.allocations.clear();
    const bool has_effects = !call.launch->orders.empty() || !call.launch->allocations.empty();
    if (has_effects && session_.tracker().capture(call.stream) == 0) {
        wait_for_others(call);
        for (const SharedGraphWork& node : call.launch->allocations) {
            allocate(call, *node, prepared.frees_first);
        }
    }
    call.operation.accesses = call.launch->accesses;
    call.operation.nodes = call.launch->nodes.data();
    call.operation.repeated = call.launch->number;
}

/// Events that nodes record or wait for order the launch as a whole.
void GraphWatch::wait_for_others(Call& call) {
    Tracker& tracker = session_.tracker();
    for (const SharedGraphWork& node : call.launch->orders) {
        if (node->awaited != 0) {
            tracker.begin_wait(call.stream, node->awaited, call.record);
            tracker.stream_waits(call.stream, call.record);
        } else if (node->waits_for_unknown) {
            tracker.begin_wait_for_unknown(call.stream, call.record);
            tracker.stream_waits(call.stream, call.record);
        }
    }
}

void GraphWatch::record_events(Call& call) {
    Tracker& tracker = session_.tracker();
    for (const SharedGraphWork& node : call.launch->orders) {
        if (node->recorded != 0) {
            tracker.begin_record(call.stream, call.record);
            tracker.event_recorded(node->recorded, call.stream, call.record);
        }
    }
}

/// Memory that a node allocates and no node of the graph frees is stream-ordered memory of the
/// stream of the launch (Driver API manual, cuGraphAddMemAllocNode). While an earlier launch's is
/// still there the driver refuses the launch, unless that is to be freed first.
void GraphWatch::allocate(Call& call, const GraphWork& node, bool frees_first) {
    Tracker& tracker = session_.tracker();
    const Address ptr = node.memory.ptr;
    if (tracker.is_live(ptr)) {
        if (!frees_first) {
            return;
        }
        free(call.stream, ptr, session_.site(call.api));
    }
    Allocation allocation;
    allocation.kind = BlockKind::Async;
    allocation.ptr = ptr;
    allocation.bytes = node.memory.bytes;
    allocation.context = call.stream.context;
    allocation.device = node.memory.device;
    allocation.stream = call.stream;
    allocation.free_waits_for_device = false;
    allocation.site = site_of(node);
    tracker.allocated(allocation);
    call.allocations.push_back(ptr);
}

void GraphWatch::free(const StreamRef& stream, Address ptr, const CallSite& site) {
    PendingFree pending = session_.begin_free(request_to_free(stream, ptr, site));
    session_.tracker().end_free(pending, true);
}

void GraphWatch::launch_begun(Call& call) {
    call.frees.clear();
    for (const SharedGraphWork& node : call.launch->frees) {
        PendingFree pending =
            session_.begin_free(request_to_free(call.stream, node->memory.ptr, site_of(*node)));
        if (pending.block != 0) {
            call.frees.push_back(std::move(pending));
        }
    }
}

void GraphWatch::launch_returned(Call& call, bool succeeded) {
    Tracker& tracker = session_.tracker();
    for (PendingFree& pending : call.frees) {
        tracker.end_free(pending, succeeded);
    }
    if (!succeeded) {
        for (const Address ptr : call.allocations) {
            free(call.stream, ptr, session_.site(call.api));
        }
        return;
    }
    record_events(call);
    for (const SharedGraphWork& node : call.launch->inner_frees) {
        tracker.graph_memory_freed(node->memory.ptr, site_of(*node));
    }
}

void GraphWatch::destroyed(const Call& call) {
    if (call.effect == Effect::GraphDestroyed) {
        for (const GraphNode& node : graphs_.nodes(call.graph)) {
            if (node.work->memory.bytes != 0) {
                session_.tracker().graph_memory_taken_back(node.work->memory.ptr);
            }
        }
        graphs_.destroyed(call.graph);
    } else if (call.effect == Effect::GraphNodeDestroyed) {
        graphs_.node_destroyed(call.node);
    } else {
        graphs_.destroyed(call.exec);
        session_.tracker().event_destroyed(static_cast<std::uint64_t>(call.exec));
    }
}

/// What the call's operation does as a node. A graph in a graph does what its nodes do.
SharedGraphWork GraphWatch::work_of(Call& call) {
    auto work = std::make_shared<GraphWork>();
    work->operation = call.operation;
    work->operation.api = call.api;
    work->operation.accesses = {};
    work->operation.nodes = nullptr;
    work->waits_for_unknown = call.waits_for_unknown;
    work->recorded = call.effect == Effect::StreamWaitsEvent ? 0 : call.events[0];
    work->awaited = call.effect == Effect::StreamWaitsEvent ? call.events[0] : call.events[1];
    if (call.body_count != 0) {
        work->owned = call.owned_graphs();
        work->is_conditional = true;
    } else if (call.owns_child) {
        work->owned = {call.child};
    } else if (call.operation.kind == OperationKind::Graph) {
        const bool is_launch = call.effect == Effect::Queue;
        work->child =
            is_launch ? graphs_.body(call.exec) : graphs_.body(call.child, edges_of(call.child));
    } else {
        work->accesses = call.accesses;
    }
    if (call.allocated != nullptr) {
        std::memcpy(&call.memory.ptr, call.allocated, sizeof call.memory.ptr);
    }
    work->memory = call.memory;
    const bool has_place = !work->accesses.empty() || work->memory.ptr != 0;
    if (call.effect != Effect::Queue && has_place) {
        const CallSite site = session_.site(call.api);
        work->operation.stack = site.stack;
        work->operation.thread = site.thread;
    }
    if (work->memory.bytes != 0) {
        session_.tracker().graph_memory_given_out(work->memory.ptr, work->memory.bytes,
                                                  site_of(*work));
    }
    return work;
}

void GraphWatch::captured(std::uint32_t capture, Call& call) {
    graphs_.captured(capture, captured_node(call), work_of(call));
}

/// The node that the call has built: the next one of its stream will depend on it and on nothing
/// else. The question is one of the few that a capture allows.
NodeHandle GraphWatch::captured_node(const Call& call) const {
    if (driver_.capture_info == nullptr) {
        return kUnknownNode;
    }
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode* nodes = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    const auto stream = reinterpret_cast<CUstream>(static_cast<std::uint64_t>(call.stream.stream));
    const CUresult result =
        driver_.capture_info(stream, &status, nullptr, nullptr, &nodes, &edges, &count);
    if (result != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1) {
        return kUnknownNode;
    }
    return NodeHandle{reinterpret_cast<std::uint64_t>(nodes[0])};
}

void GraphWatch::capture_ended(const Call& call, std::uint32_t capture, bool succeeded) {
    if (succeeded) {
        graphs_.capture_ended(capture, GraphHandle{call.created_handle()});
    } else {
        graphs_.capture_failed(capture);
    }
}

void GraphWatch::succeeded(Call& call) {
    switch (call.effect) {
        case Effect::GraphCreated:
            graphs_.created(GraphHandle{call.created_handle()}, {});
            break;
        case Effect::GraphCloned:
            cloned(call);
            break;
        case Effect::GraphNodeAdded:
            for (const GraphHandle body : call.owned_graphs()) {
                graphs_.created(body, {});
            }
            graphs_.node_added(call.graph, NodeHandle{call.created_handle()}, work_of(call));
            break;
        case Effect::GraphNodeChanged:
            node_changed(call);
            break;
        case Effect::GraphNodeEnabled:
            graphs_.node_enabled(call.exec, call.node, call.enabled);
            break;
        case Effect::GraphInstantiated:
            instantiated(call);
            break;
        case Effect::GraphUpdated:
            updated(call);
            break;
        default:
            break;
    }
}

/// What depends on what is asked of the driver, once for a whole graph: there are many ways to say
/// it, and in a capture events say it.
GraphEdges GraphWatch::edges_of(GraphHandle graph) const {
    GraphEdges edges;
    for (const GraphHandle part : graphs_.parts(graph)) {
        if (auto told = ask_for_edges(part)) {
            edges.emplace(part, std::move(*told));
        }
    }
    return edges;
}

std::optional<std::vector<NodeEdge>> GraphWatch::ask_for_edges(GraphHandle graph) const {
    const auto handle = reinterpret_cast<CUgraph>(static_cast<std::uint64_t>(graph));
    std::size_t count = 0;
    if (driver_.graph_edges == nullptr ||
        driver_.graph_edges(handle, nullptr, nullptr, nullptr, &count) != CUDA_SUCCESS) {
        return std::nullopt;
    }
    std::vector<CUgraphNode> earlier(count);
    std::vector<CUgraphNode> later(count);
    std::vector<CUgraphEdgeData> data(count);
    if (count != 0 && driver_.graph_edges(handle, earlier.data(), later.data(), data.data(),
                                          &count) != CUDA_SUCCESS) {
        return std::nullopt;
    }
    std::vector<NodeEdge> edges;
    edges.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        edges.push_back({.earlier = NodeHandle{reinterpret_cast<std::uint64_t>(earlier[i])},
                         .later = NodeHandle{reinterpret_cast<std::uint64_t>(later[i])}});
    }
    return edges;
}

void GraphWatch::instantiated(const Call& call) {
    const ExecHandle exec{call.created_handle()};
    graphs_.instantiated(call.graph, exec, edges_of(call.graph), call.frees_first);
    compare_nodes(call, exec, {});
}

void GraphWatch::updated(const Call& call) {
    graphs_.updated(call.exec, call.graph, edges_of(call.graph));
    compare_nodes(call, call.exec, {});
}

/// Looks for nodes that disturb each other: those changed with all others, or all if none are
/// named.
void GraphWatch::compare_nodes(const Call& call, ExecHandle exec,
                               std::span<const std::uint32_t> changed) {
    session_.tracker().compare_nodes(graphs_.body(exec), session_.site(call.api), changed);
}

void GraphWatch::cloned(const Call& call) {
    std::vector<GraphNode> nodes = graphs_.nodes(call.graph);
    const auto clone = reinterpret_cast<CUgraph>(call.created_handle());
    for (GraphNode& node : nodes) {
        CUgraphNode twin = nullptr;
        const auto original =
            reinterpret_cast<CUgraphNode>(static_cast<std::uint64_t>(node.handle));
        if (driver_.node_in_clone == nullptr || original == nullptr ||
            driver_.node_in_clone(&twin, original, clone) != CUDA_SUCCESS) {
            twin = nullptr;
        }
        node.handle = NodeHandle{reinterpret_cast<std::uint64_t>(twin)};
    }
    graphs_.created(GraphHandle{call.created_handle()}, std::move(nodes));
}

void GraphWatch::node_changed(Call& call) {
    if (call.exec != ExecHandle{}) {
        graphs_.node_changed(call.exec, call.node, work_of(call));
    } else {
        graphs_.node_changed(call.node, work_of(call));
    }
}

}  // namespace cuward::cupti
