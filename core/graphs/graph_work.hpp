// What the nodes of a graph do, and what a launch of the whole graph touches.
#pragma once

#include <memory>
#include <vector>

#include "core/operation.hpp"

namespace cuward {

struct GraphWork;

/// Never changed once it is shared: graphs, their copies and executable graphs hold the same one.
using SharedGraphWork = std::shared_ptr<const GraphWork>;

/// What one node does when it runs: an operation, or for a child graph the work of its nodes.
struct GraphWork {
    Operation operation;  ///< as captured or added: without stream and accesses
    std::vector<MemoryAccess> accesses;
    std::vector<SharedGraphWork> children;
};

/// What one launch of an executable graph touches.
struct GraphLaunch {
    std::vector<MemoryAccess> accesses;  ///< `node` counts into `nodes`, from 1
    std::vector<Operation> nodes;
};

/// The accesses of all of `work`, those of the same range, direction and certainty once: they make
/// the same hazards, so the first node that has one stands for the others. Exact ranges that touch
/// one another become one if their nodes were captured in one place, as by a loop over chunks.
/// O(n log n) for n accesses.
GraphLaunch merge(const std::vector<SharedGraphWork>& work);

}  // namespace cuward
