// Which nodes of a graph come after which.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/graphs/graph_work.hpp"

namespace cuward {

/// One node in the order of its graph. Like a stream, a chain is a sequence of nodes that come
/// after each other.
struct GraphStep {
    const GraphWork& work;
    std::uint32_t node;      ///< its index in the graph, or that of the child graph it belongs to
    std::uint32_t chain;     ///< counted from 0
    std::uint32_t position;  ///< in its chain, from 1
    const std::vector<std::uint32_t>& reached;  ///< of each chain the last node it comes after

    /// Whether it comes after the node at `position` of `chain`, which has been visited before.
    bool comes_after(std::uint32_t other_chain, std::uint32_t other_position) const {
        return other_chain == chain ||
               (other_chain < reached.size() && reached[other_chain] >= other_position);
    }
};

/// Visits every node of a graph after those it depends on, and as far as that allows in the order
/// in which they were added; the nodes of a child graph where it stands. O((nodes + edges) ×
/// chains) at worst, near to nodes + edges for graphs as programs build them.
void visit_in_order(const GraphBody& body, const std::function<void(const GraphStep&)>& visit);

}  // namespace cuward
