// What the nodes of a graph do, and what a launch of the whole graph touches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/operation.hpp"

namespace cuward {

struct GraphWork;

/// Never changed once it is shared: graphs, their copies and executable graphs hold the same one.
using SharedGraphWork = std::shared_ptr<const GraphWork>;

/// CUgraph, CUgraphNode and CUgraphExec as values.
enum class GraphHandle : std::uint64_t {};
enum class NodeHandle : std::uint64_t {};
enum class ExecHandle : std::uint64_t {};
constexpr NodeHandle kUnknownNode{0};

/// `later` begins when `earlier` is complete; indices of nodes.
struct GraphEdge {
    std::uint32_t earlier = 0;
    std::uint32_t later = 0;
};

/// The nodes of a graph, and what orders them.
struct GraphBody {
    std::vector<SharedGraphWork> nodes;
    std::vector<GraphEdge> edges;
};

/// Memory that a node allocates or frees. It has one address for as long as the graph exists.
struct NodeMemory {
    Address ptr = 0;          ///< 0: none
    std::uint64_t bytes = 0;  ///< 0: it is freed
    int device = -1;          ///< of an allocation, if known
};

/// What one node does when it runs.
struct GraphWork {
    Operation operation;  ///< as captured or added: without stream and accesses
    std::vector<MemoryAccess> accesses;
    GraphBody child;  ///< of a child graph
    /// Graphs that belong to the node, whose nodes are added after it: the bodies of a conditional
    /// node, of which it runs any or none, or a child graph that was moved there.
    std::vector<GraphHandle> owned;
    bool is_conditional = false;
    NodeMemory memory;
    std::uint64_t recorded = 0;      ///< event that it records; 0: none
    std::uint64_t awaited = 0;       ///< event that it waits for; 0: none
    bool waits_for_unknown = false;  ///< for a value in memory or a semaphore
    bool concerns_order() const { return recorded != 0 || awaited != 0 || waits_for_unknown; }
};

/// What one launch of an executable graph touches. Memory that it allocates and frees again is its
/// own business.
struct GraphLaunch {
    std::uint64_t number = 0;            ///< of no other
    std::vector<MemoryAccess> accesses;  ///< `node` counts into `nodes`, from 1
    std::vector<Operation> nodes;
    std::vector<SharedGraphWork> orders;  ///< nodes that wait for others than nodes, or let them
    std::vector<SharedGraphWork> allocations;  ///< nodes whose memory the graph does not free
    std::vector<SharedGraphWork> frees;        ///< nodes that free memory of another graph
    std::vector<SharedGraphWork> inner_frees;  ///< nodes that free the graph's own memory
};

/// The accesses of all nodes, those of the same range, direction and certainty once: they make
/// the same hazards, so the first node that has one stands for the others. Exact ranges that touch
/// one another become one if their nodes were captured in one place, as by a loop over chunks.
/// O(n log n) for n accesses.
GraphLaunch merge(const GraphBody& body);

}  // namespace cuward
