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

/// What one node does when it runs: an operation, or for a child graph what its nodes do.
struct GraphWork {
    Operation operation;  ///< as captured or added: without stream and accesses
    std::vector<MemoryAccess> accesses;
    GraphBody child;
};

/// What one launch of an executable graph touches.
struct GraphLaunch {
    std::vector<MemoryAccess> accesses;  ///< `node` counts into `nodes`, from 1
    std::vector<Operation> nodes;
};

/// The accesses of all nodes, those of the same range, direction and certainty once: they make
/// the same hazards, so the first node that has one stands for the others. Exact ranges that touch
/// one another become one if their nodes were captured in one place, as by a loop over chunks.
/// O(n log n) for n accesses.
GraphLaunch merge(const GraphBody& body);

}  // namespace cuward
