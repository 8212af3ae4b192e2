// Nodes of one graph that disturb each other. The order of a graph does not depend on where and how
// often it is launched, so they are found when it is instantiated.
#include <algorithm>
#include <tuple>

#include "core/graphs/graph_order.hpp"
#include "core/tracker_state.hpp"

namespace cuward {
namespace {

/// What a node does to a block, with its chain and its position there in place of a stream and an
/// epoch; its place is known when it is needed.
struct NodeUse {
    PastAccess access;
    const GraphWork* work = nullptr;
    bool is_changed = false;
    bool has_waited = false;  ///< for something that may order it with any other node
};

/// The nodes that the next ones may disturb.
class BlockUses {
  public:
    /// Enough for the chunks that a graph works on at once; past it the oldest is forgotten, so
    /// that thousands of unordered nodes do not cost the square of their number.
    static constexpr std::size_t kMost = 256;

    template <typename Visit>
    void add(const NodeUse& next, const GraphStep& step, Visit&& unordered) {
        const auto is_done = [&](NodeUse& earlier) {
            const auto position = static_cast<std::uint32_t>(earlier.access.epoch);
            if (step.comes_after(earlier.access.slot, position)) {
                return AccessHistory::stands_for(next.access, earlier.access);
            }
            if (conflict(earlier.access, next.access)) {
                unordered(earlier);
            }
            return false;
        };
        uses_.erase(std::remove_if(uses_.begin(), uses_.end(), is_done), uses_.end());
        if (uses_.size() == kMost) {
            uses_[turn_++ % kMost] = next;
        } else {
            uses_.push_back(next);
        }
    }

  private:
    std::vector<NodeUse> uses_;
    std::size_t turn_ = 0;
};

}  // namespace

class Tracker::GraphComparison {
  public:
    GraphComparison(State& state, const CallSite& site, std::span<const std::uint32_t> changed)
        : state_(state), changed_(changed) {
        graph_.kind = OperationKind::Graph;
        graph_.api = site.api;
        graph_.stack = site.stack;
        graph_.thread = site.thread;
    }

    void add(const GraphStep& step) {
        if (step.work.waits_for_unknown) {
            waits_.push_back({step.chain, step.position});
        }
        for (const MemoryAccess& access : step.work.accesses) {
            if (TrackedBlock* const block = state_.blocks.find(access.range.lo)) {
                add(step, access, *block);
            }
        }
    }

    void report() {
        for (const auto& [places, seen] : found_) {
            state_.findings.add(seen);
        }
    }

  private:
    using Places = std::tuple<Hazard, PlaceId, PlaceId>;

    void add(const GraphStep& step, const MemoryAccess& access, const TrackedBlock& block) {
        const Operation& node = step.work.operation;
        NodeUse next{.access = {.range = clipped(access.range, block),
                                .epoch = step.position,
                                .slot = step.chain,
                                .place = kNoPlace,
                                .thread = graph_.thread,
                                .grid = node.grid,
                                .threads = node.threads,
                                .access = access.access,
                                .direction_known = access.direction_known,
                                .range_exact = access.range_exact,
                                .is_conditional = access.is_conditional},
                     .work = &step.work,
                     .is_changed = is_changed(step.node),
                     .has_waited = has_waited(step)};
        uses_[block.serial].add(next, step, [&](NodeUse& earlier) {
            const bool is_known = !next.has_waited && !earlier.has_waited;
            if (is_known && (next.is_changed || earlier.is_changed)) {
                found(block, earlier, next);
            }
        });
    }

    bool has_waited(const GraphStep& step) const {
        return std::any_of(waits_.begin(), waits_.end(), [&](const auto& wait) {
            return step.comes_after(wait.first, wait.second);
        });
    }

    bool is_changed(std::uint32_t node) const {
        return changed_.empty() || std::binary_search(changed_.begin(), changed_.end(), node);
    }

    void found(const TrackedBlock& block, NodeUse& earlier, NodeUse& later) {
        name(earlier);
        name(later);
        const Hazard hazard = hazard_of(earlier.access.access, later.access.access);
        const Verdict verdict = verdict_of(earlier.access, later.access);
        Seen& seen = found_[{hazard, earlier.access.place, later.access.place}];
        if (!seen.sides.empty() && seen.verdict >= verdict) {
            return;
        }
        seen = {.kind = FindingKind::Race,
                .verdict = verdict,
                .hazard = hazard,
                .block = block.serial,
                .block_start = block.ptr,
                .block_bytes = block.bytes,
                .ptr = later.access.range.lo,
                .sides = {Side::of(earlier.access), Side::of(later.access)}};
    }

    void name(NodeUse& use) {
        if (use.access.place == kNoPlace) {
            use.access.place = state_.place_of_node(graph_, use.work->operation);
        }
    }

    State& state_;
    Operation graph_;  ///< that was instantiated or changed
    const std::span<const std::uint32_t> changed_;
    /// Chain and position of the nodes that wait for something outside the graph's edges.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> waits_;
    std::unordered_map<std::uint64_t, BlockUses> uses_;  ///< by the block's serial number
    std::map<Places, Seen> found_;
};

void Tracker::compare_nodes(const GraphBody& body, const CallSite& site,
                            std::span<const std::uint32_t> changed) {
    const std::lock_guard lock(state_->mutex);
    GraphComparison comparison(*state_, site, changed);
    visit_in_order(body, [&](const GraphStep& step) { comparison.add(step); });
    comparison.report();
}

}  // namespace cuward
