#include "core/graphs/graphs.hpp"

#include <algorithm>
#include <utility>

namespace cuward {
namespace {

const SharedGraphWork& no_work() {
    static const auto nothing = std::make_shared<const GraphWork>();
    return nothing;
}

GraphBody body_of(const std::vector<GraphNode>& nodes, const std::vector<GraphEdge>& edges) {
    GraphBody body{.nodes = {}, .edges = edges};
    body.nodes.reserve(nodes.size());
    for (const GraphNode& node : nodes) {
        body.nodes.push_back(node.enabled ? node.work : no_work());
    }
    return body;
}

/// Where no edges are known, nothing may be said to be unordered.
std::vector<GraphEdge> sequence(std::size_t nodes) {
    std::vector<GraphEdge> edges;
    for (std::uint32_t later = 1; later < nodes; ++later) {
        edges.push_back({.earlier = later - 1, .later = later});
    }
    return edges;
}

/// What may not run, as its condition is known to the device only.
SharedGraphWork as_conditional(const GraphWork& work) {
    auto made = std::make_shared<GraphWork>(work);
    for (MemoryAccess& access : made->accesses) {
        access.is_conditional = true;
    }
    for (SharedGraphWork& node : made->child.nodes) {
        node = as_conditional(*node);
    }
    return made;
}

bool has_names(const std::vector<GraphNode>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(),
                       [](const GraphNode& node) { return node.handle != kUnknownNode; });
}

}  // namespace

// Capture

void Graphs::captured(std::uint32_t capture, NodeHandle node, SharedGraphWork work) {
    const std::lock_guard lock(mutex_);
    captures_[capture].push_back({.handle = node, .work = std::move(work)});
}

// Nodes may have been added to the graph by hand, too: before cuStreamBeginCaptureToGraph, or
// meanwhile.
void Graphs::capture_ended(std::uint32_t capture, GraphHandle graph) {
    const std::lock_guard lock(mutex_);
    auto ended = captures_.extract(capture);
    if (ended.empty()) {
        return;
    }
    for (GraphNode& node : ended.mapped()) {
        add(graph, std::move(node));
    }
}

void Graphs::capture_failed(std::uint32_t capture) {
    const std::lock_guard lock(mutex_);
    captures_.erase(capture);
}

// Graphs

void Graphs::add(GraphHandle graph, GraphNode node) {
    std::vector<GraphNode>& nodes = graphs_[graph];
    if (node.handle != kUnknownNode) {
        places_.insert_or_assign(node.handle, Place{graph, nodes.size()});
    }
    nodes.push_back(std::move(node));
}

GraphNode* Graphs::find(NodeHandle node) {
    const auto place = places_.find(node);
    return place != places_.end() ? &graphs_.at(place->second.graph)[place->second.index] : nullptr;
}

void Graphs::forget(GraphHandle graph) {
    const auto gone = graphs_.extract(graph);
    if (gone.empty()) {
        return;
    }
    for (const GraphNode& node : gone.mapped()) {
        const auto place = places_.find(node.handle);
        if (place != places_.end() && place->second.graph == graph) {
            places_.erase(place);
        }
    }
}

void Graphs::created(GraphHandle graph, std::vector<GraphNode> nodes) {
    const std::lock_guard lock(mutex_);
    forget(graph);
    for (GraphNode& node : nodes) {
        add(graph, std::move(node));
    }
}

void Graphs::destroyed(GraphHandle graph) {
    const std::lock_guard lock(mutex_);
    std::vector<GraphHandle> gone;
    add_parts(graph, gone);
    for (const GraphHandle part : gone) {
        forget(part);
    }
}

void Graphs::node_added(GraphHandle graph, NodeHandle node, SharedGraphWork work) {
    const std::lock_guard lock(mutex_);
    add(graph, {.handle = node, .work = std::move(work)});
}

void Graphs::node_changed(NodeHandle node, SharedGraphWork work) {
    const std::lock_guard lock(mutex_);
    if (GraphNode* const changed = find(node)) {
        changed->work = std::move(work);
    }
}

void Graphs::node_destroyed(NodeHandle node) {
    const std::lock_guard lock(mutex_);
    if (GraphNode* const gone = find(node)) {
        *gone = {};
        places_.erase(node);
    }
}

std::vector<GraphNode> Graphs::nodes_locked(GraphHandle graph) const {
    std::vector<GraphNode> nodes;
    if (const auto known = graphs_.find(graph); known != graphs_.end()) {
        nodes.reserve(known->second.size());
        std::copy_if(known->second.begin(), known->second.end(), std::back_inserter(nodes),
                     [](const GraphNode& node) { return node.work != nullptr; });
    }
    return nodes;
}

std::vector<GraphNode> Graphs::nodes(GraphHandle graph) const {
    const std::lock_guard lock(mutex_);
    return nodes_locked(graph);
}

std::vector<GraphHandle> Graphs::parts(GraphHandle graph) const {
    const std::lock_guard lock(mutex_);
    std::vector<GraphHandle> parts;
    add_parts(graph, parts);
    return parts;
}

void Graphs::add_parts(GraphHandle graph, std::vector<GraphHandle>& parts) const {
    parts.push_back(graph);
    const auto known = graphs_.find(graph);
    if (known == graphs_.end()) {
        return;
    }
    for (const GraphNode& node : known->second) {
        if (node.work != nullptr) {
            for (const GraphHandle owned : node.work->owned) {
                add_parts(owned, parts);
            }
        }
    }
}

/// Of several bodies at most one runs, so they disturb each other no more than a sequence does.
SharedGraphWork Graphs::with_owned(const GraphWork& work, const GraphEdges& edges) const {
    auto made = std::make_shared<GraphWork>(work);
    for (const GraphHandle owned : work.owned) {
        const Copy now = copy(owned, edges);
        auto body = std::make_shared<GraphWork>();
        body->child = body_of(now.nodes, now.edges);
        made->child.nodes.push_back(work.is_conditional ? as_conditional(*body) : body);
    }
    made->child.edges = sequence(made->child.nodes.size());
    return made;
}

/// Nodes that only the driver's edges tell of do nothing that is watched.
Graphs::Copy Graphs::copy(GraphHandle graph, const GraphEdges& edges) const {
    Copy copy{.nodes = nodes_locked(graph), .edges = {}};
    for (GraphNode& node : copy.nodes) {
        if (!node.work->owned.empty()) {
            node.work = with_owned(*node.work, edges);
        }
    }
    const auto told = edges.find(graph);
    if (told == edges.end() || !has_names(copy.nodes)) {
        copy.edges = sequence(copy.nodes.size());
        return copy;
    }
    std::unordered_map<NodeHandle, std::uint32_t> index;
    index.reserve(copy.nodes.size());
    for (const GraphNode& node : copy.nodes) {
        index.emplace(node.handle, static_cast<std::uint32_t>(index.size()));
    }
    const auto index_of = [&](NodeHandle node) {
        const auto [known, is_new] =
            index.emplace(node, static_cast<std::uint32_t>(copy.nodes.size()));
        if (is_new) {
            copy.nodes.push_back({.handle = node, .work = no_work()});
        }
        return known->second;
    };
    copy.edges.reserve(told->second.size());
    for (const NodeEdge& edge : told->second) {
        const std::uint32_t earlier = index_of(edge.earlier);
        copy.edges.push_back({.earlier = earlier, .later = index_of(edge.later)});
    }
    return copy;
}

GraphBody Graphs::body(GraphHandle graph, const GraphEdges& edges) const {
    const std::lock_guard lock(mutex_);
    const Copy now = copy(graph, edges);
    return body_of(now.nodes, now.edges);
}

GraphBody Graphs::body(ExecHandle exec) const {
    const std::lock_guard lock(mutex_);
    const auto known = execs_.find(exec);
    return known != execs_.end() ? known->second.body() : GraphBody{};
}

// Executable graphs

GraphNode* Graphs::Exec::find(NodeHandle node) {
    if (index.empty()) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            index.emplace(nodes[i].handle, i);
        }
    }
    const auto found = node != kUnknownNode ? index.find(node) : index.end();
    return found != index.end() ? &nodes[found->second] : nullptr;
}

GraphBody Graphs::Exec::body() const {
    return body_of(nodes, edges);
}

void Graphs::instantiated(GraphHandle graph, ExecHandle exec, const GraphEdges& edges,
                          bool frees_first) {
    const std::lock_guard lock(mutex_);
    Copy now = copy(graph, edges);
    Exec made{.nodes = std::move(now.nodes),
              .edges = std::move(now.edges),
              .index = {},
              .launch = nullptr,
              .frees_first = frees_first};
    made.launch = std::make_shared<const GraphLaunch>(merge(made.body()));
    execs_.insert_or_assign(exec, std::move(made));
}

void Graphs::updated(ExecHandle exec, GraphHandle graph, const GraphEdges& edges) {
    const std::lock_guard lock(mutex_);
    const auto known = execs_.find(exec);
    if (known == execs_.end()) {
        return;
    }
    Exec& updated = known->second;
    Copy now = copy(graph, edges);
    if (now.nodes.size() == updated.nodes.size()) {
        for (std::size_t i = 0; i < now.nodes.size(); ++i) {
            updated.nodes[i].work = std::move(now.nodes[i].work);
            updated.nodes[i].is_changed = false;
        }
    } else {
        updated.nodes = std::move(now.nodes);
        updated.index.clear();
    }
    updated.edges = std::move(now.edges);
    updated.launch = nullptr;
}

void Graphs::node_changed(ExecHandle exec, NodeHandle node, SharedGraphWork work) {
    const std::lock_guard lock(mutex_);
    const auto known = execs_.find(exec);
    GraphNode* const changed = known != execs_.end() ? known->second.find(node) : nullptr;
    if (changed != nullptr) {
        changed->work = std::move(work);
        changed->is_changed = true;
        known->second.launch = nullptr;
    }
}

void Graphs::node_enabled(ExecHandle exec, NodeHandle node, bool enabled) {
    const std::lock_guard lock(mutex_);
    const auto known = execs_.find(exec);
    GraphNode* const changed = known != execs_.end() ? known->second.find(node) : nullptr;
    if (changed != nullptr && std::exchange(changed->enabled, enabled) != enabled) {
        known->second.launch = nullptr;
    }
}

void Graphs::destroyed(ExecHandle exec) {
    const std::lock_guard lock(mutex_);
    execs_.erase(exec);
}

PreparedLaunch Graphs::launch(ExecHandle exec) {
    static const auto nothing = std::make_shared<const GraphLaunch>();
    const std::lock_guard lock(mutex_);
    const auto known = execs_.find(exec);
    if (known == execs_.end()) {
        return {.touched = nothing, .changed = {}, .frees_first = false};
    }
    Exec& launched = known->second;
    PreparedLaunch prepared;
    prepared.frees_first = launched.frees_first;
    if (launched.launch == nullptr) {
        launched.launch = std::make_shared<const GraphLaunch>(merge(launched.body()));
        for (std::uint32_t i = 0; i < launched.nodes.size(); ++i) {
            GraphNode& node = launched.nodes[i];
            if (node.enabled && std::exchange(node.is_changed, false)) {
                prepared.changed.push_back(i);
            }
        }
    }
    prepared.touched = launched.launch;
    return prepared;
}

}  // namespace cuward
