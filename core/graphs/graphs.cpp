#include "core/graphs/graphs.hpp"

#include <algorithm>
#include <utility>

namespace cuward {
namespace {

std::vector<SharedGraphWork> enabled_work(const std::vector<GraphNode>& nodes) {
    std::vector<SharedGraphWork> work;
    work.reserve(nodes.size());
    for (const GraphNode& node : nodes) {
        if (node.work != nullptr && node.enabled) {
            work.push_back(node.work);
        }
    }
    return work;
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
    forget(graph);
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

std::vector<SharedGraphWork> Graphs::work(GraphHandle graph) const {
    const std::lock_guard lock(mutex_);
    const auto known = graphs_.find(graph);
    return known != graphs_.end() ? enabled_work(known->second) : std::vector<SharedGraphWork>{};
}

std::vector<SharedGraphWork> Graphs::work(ExecHandle exec) const {
    const std::lock_guard lock(mutex_);
    const auto known = execs_.find(exec);
    return known != execs_.end() ? enabled_work(known->second.nodes)
                                 : std::vector<SharedGraphWork>{};
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

void Graphs::instantiated(GraphHandle graph, ExecHandle exec) {
    const std::lock_guard lock(mutex_);
    Exec made{.nodes = nodes_locked(graph), .index = {}, .launch = nullptr};
    made.launch = std::make_shared<const GraphLaunch>(merge(enabled_work(made.nodes)));
    execs_.insert_or_assign(exec, std::move(made));
}

void Graphs::updated(ExecHandle exec, GraphHandle graph) {
    const std::lock_guard lock(mutex_);
    const auto known = execs_.find(exec);
    if (known == execs_.end()) {
        return;
    }
    Exec& updated = known->second;
    std::vector<GraphNode> nodes = nodes_locked(graph);
    if (nodes.size() == updated.nodes.size()) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            updated.nodes[i].work = std::move(nodes[i].work);
        }
    } else {
        updated.nodes = std::move(nodes);
        updated.index.clear();
    }
    updated.launch = nullptr;
}

void Graphs::node_changed(ExecHandle exec, NodeHandle node, SharedGraphWork work) {
    const std::lock_guard lock(mutex_);
    const auto known = execs_.find(exec);
    GraphNode* const changed = known != execs_.end() ? known->second.find(node) : nullptr;
    if (changed != nullptr) {
        changed->work = std::move(work);
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

std::shared_ptr<const GraphLaunch> Graphs::launch(ExecHandle exec) {
    static const auto nothing = std::make_shared<const GraphLaunch>();
    const std::lock_guard lock(mutex_);
    const auto known = execs_.find(exec);
    if (known == execs_.end()) {
        return nothing;
    }
    std::shared_ptr<const GraphLaunch>& launch = known->second.launch;
    if (launch == nullptr) {
        launch = std::make_shared<const GraphLaunch>(merge(enabled_work(known->second.nodes)));
    }
    return launch;
}

}  // namespace cuward
