// The graphs a program builds, by their handles: what each node does, and what a launch of each
// executable graph touches.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/graphs/graph_work.hpp"

namespace cuward {

/// As the driver names it: `later` depends on `earlier`.
struct NodeEdge {
    NodeHandle earlier;
    NodeHandle later;
};
/// All edges of a graph; where the driver does not tell them, its nodes count as a sequence.
using GraphEdges = std::unordered_map<GraphHandle, std::vector<NodeEdge>>;

struct GraphNode {
    NodeHandle handle = kUnknownNode;
    SharedGraphWork work;  ///< null: the node has been destroyed
    bool enabled = true;
    bool is_changed = false;  ///< of an executable graph, since its nodes were compared
};

/// What one launch of an executable graph does.
struct PreparedLaunch {
    std::shared_ptr<const GraphLaunch> touched;  ///< never null
    /// Indices of the nodes whose work has been changed since the last launch or instantiation.
    std::vector<std::uint32_t> changed;
    bool frees_first = false;  ///< what the last launch has allocated and nobody has freed
};

/// Thread-safe; calls nobody. A graph, node or executable graph that it was never told of has no
/// work, and what is said of one is ignored.
class Graphs {
  public:
    // Capture, by its number (Order::capture). The nodes become those of a graph when it ends.
    void captured(std::uint32_t capture, NodeHandle node, SharedGraphWork work);
    void capture_ended(std::uint32_t capture, GraphHandle graph);
    /// A capture that gave no graph.
    void capture_failed(std::uint32_t capture);

    // Graphs and their nodes.
    /// A new graph, whatever was known by that handle.
    void created(GraphHandle graph, std::vector<GraphNode> nodes);
    void destroyed(GraphHandle graph);
    void node_added(GraphHandle graph, NodeHandle node, SharedGraphWork work);
    void node_changed(NodeHandle node, SharedGraphWork work);
    void node_destroyed(NodeHandle node);
    /// The nodes of a graph, in the order they were added.
    std::vector<GraphNode> nodes(GraphHandle graph) const;
    /// A graph and those that its nodes own: whose edges have to be known for what follows.
    std::vector<GraphHandle> parts(GraphHandle graph) const;
    /// What a child graph would do: its nodes as they are now, for the parent gets a copy.
    GraphBody body(GraphHandle graph, const GraphEdges& edges) const;
    /// What an executable graph does; a disabled node does nothing.
    GraphBody body(ExecHandle exec) const;

    // Executable graphs. Their nodes are named by those of the graph they were made from
    // (Driver API manual, "Graph Management").
    /// `frees_first`: with CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH.
    void instantiated(GraphHandle graph, ExecHandle exec, const GraphEdges& edges,
                      bool frees_first = false);
    /// cuGraphExecUpdate: the work of `graph`, whose nodes must be those of the original in number
    /// and order.
    void updated(ExecHandle exec, GraphHandle graph, const GraphEdges& edges);
    void node_changed(ExecHandle exec, NodeHandle node, SharedGraphWork work);
    void node_enabled(ExecHandle exec, NodeHandle node, bool enabled);
    void destroyed(ExecHandle exec);
    /// Costs nothing if the executable graph is as it was at its last launch, else O(accesses of
    /// its nodes).
    PreparedLaunch launch(ExecHandle exec);

  private:
    /// Nodes with their edges, by index.
    struct Copy {
        std::vector<GraphNode> nodes;
        std::vector<GraphEdge> edges;
    };
    struct Place {
        GraphHandle graph;
        std::size_t index;
    };
    struct Exec {
        std::vector<GraphNode> nodes;
        std::vector<GraphEdge> edges;
        std::unordered_map<NodeHandle, std::size_t> index;  ///< made when first needed
        std::shared_ptr<const GraphLaunch> launch;          ///< null: to be made again
        bool frees_first = false;

        GraphNode* find(NodeHandle node);
        GraphBody body() const;
    };

    void add(GraphHandle graph, GraphNode node);
    GraphNode* find(NodeHandle node);
    void forget(GraphHandle graph);
    std::vector<GraphNode> nodes_locked(GraphHandle graph) const;
    void add_parts(GraphHandle graph, std::vector<GraphHandle>& parts) const;
    Copy copy(GraphHandle graph, const GraphEdges& edges) const;
    SharedGraphWork with_owned(const GraphWork& work, const GraphEdges& edges) const;

    mutable std::mutex mutex_;
    std::unordered_map<GraphHandle, std::vector<GraphNode>> graphs_;
    std::unordered_map<NodeHandle, Place> places_;
    std::unordered_map<std::uint32_t, std::vector<GraphNode>> captures_;
    std::unordered_map<ExecHandle, Exec> execs_;
};

}  // namespace cuward
