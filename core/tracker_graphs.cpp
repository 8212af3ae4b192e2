// Nodes of one graph that disturb each other, and memory that nodes allocate and free. The order of
// a graph does not depend on where and how often it is launched, so that much is found when it is
// instantiated.
#include <algorithm>
#include <iterator>
#include <optional>
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

    bool is_before(const GraphStep& step) const {
        return step.comes_after(access.slot, static_cast<std::uint32_t>(access.epoch));
    }
};

/// The nodes that the next ones may disturb, and what allocates and frees the block, if nodes do.
struct NodesOfBlock {
    /// Enough for the chunks that a graph works on at once; past it the oldest is forgotten, so
    /// that thousands of unordered nodes do not cost the square of their number.
    static constexpr std::size_t kMost = 256;

    template <typename Visit>
    void add(const NodeUse& next, const GraphStep& step, Visit&& unordered) {
        const auto is_done = [&](NodeUse& earlier) {
            if (earlier.is_before(step)) {
                return AccessHistory::stands_for(next.access, earlier.access);
            }
            if (conflict(earlier.access, next.access)) {
                unordered(earlier);
            }
            return false;
        };
        uses.erase(std::remove_if(uses.begin(), uses.end(), is_done), uses.end());
        if (uses.size() == kMost) {
            uses[turn++ % kMost] = next;
        } else {
            uses.push_back(next);
        }
    }

    std::vector<NodeUse> uses;
    std::size_t turn = 0;
    std::optional<NodeUse> allocated;
    std::optional<NodeUse> freed;
};

/// A block, or memory of a graph that may not be allocated just now.
struct Region {
    std::uint64_t serial = 0;  ///< 0: no block
    Address ptr = 0;
    std::uint64_t bytes = 0;
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
        const NodeMemory& memory = step.work.memory;
        if (memory.ptr != 0 && memory.bytes != 0) {
            add_allocation(step, memory.ptr);
        } else if (memory.ptr != 0) {
            add_free(step, memory.ptr);
        }
        for (const MemoryAccess& access : step.work.accesses) {
            if (const auto region = region_of(access.range.lo)) {
                add(step, access, *region);
            }
        }
    }

    void report() {
        for (const auto& [places, seen] : found_) {
            state_.findings.add(seen);
        }
    }

  private:
    using Key = std::tuple<FindingKind, Hazard, PlaceId, PlaceId>;

    std::optional<Region> region_of(Address address) const {
        if (const auto* const memory = state_.find_graph_memory(address)) {
            return Region{.serial = 0, .ptr = memory->first, .bytes = memory->second.bytes};
        }
        const TrackedBlock* const block = state_.blocks.find(address);
        return block != nullptr ? std::optional(Region{block->serial, block->ptr, block->bytes})
                                : std::nullopt;
    }

    NodeUse node_at(const GraphStep& step) const {
        NodeUse node{.access = {}, .work = &step.work};
        node.access.epoch = step.position;
        node.access.slot = step.chain;
        node.access.place = kNoPlace;
        node.access.thread = graph_.thread;
        node.is_changed = is_changed(step.node);
        node.has_waited = has_waited(step);
        return node;
    }

    void add(const GraphStep& step, const MemoryAccess& access, const Region& region) {
        NodeUse next = node_at(step);
        next.access.range = clipped(access.range, region.ptr + region.bytes);
        next.access.grid = step.work.operation.grid;
        next.access.threads = step.work.operation.threads;
        next.access.access = access.access;
        next.access.direction_known = access.direction_known;
        next.access.range_exact = access.range_exact;
        next.access.is_conditional = access.is_conditional;
        NodesOfBlock& nodes = nodes_[region.ptr];
        if (nodes.allocated && !nodes.allocated->is_before(step)) {
            found(FindingKind::UseBeforeAlloc, region, *nodes.allocated, next, next);
        }
        if (nodes.freed && nodes.freed->is_before(step)) {
            found(FindingKind::UseAfterFree, region, *nodes.freed, next, next);
        } else if (nodes.freed) {
            found(FindingKind::FreedInFlight, region, next, *nodes.freed, next);
        }
        nodes.add(next, step, [&](NodeUse& earlier) { found_race(region, earlier, next); });
    }

    /// An address may serve a second time in one graph, when what had it before has been freed.
    void add_allocation(const GraphStep& step, Address ptr) {
        NodesOfBlock& nodes = nodes_[ptr];
        NodeUse allocation = node_at(step);
        if (nodes.freed) {
            nodes = {};
        }
        for (NodeUse& use : nodes.uses) {
            found(FindingKind::UseBeforeAlloc, *region_of(use.access.range.lo), allocation, use,
                  use);
        }
        nodes.allocated = allocation;
    }

    void add_free(const GraphStep& step, Address ptr) {
        NodesOfBlock& nodes = nodes_[ptr];
        NodeUse freed = node_at(step);
        for (NodeUse& use : nodes.uses) {
            if (!use.is_before(step)) {
                found(FindingKind::FreedInFlight, *region_of(use.access.range.lo), use, freed, use);
            }
        }
        nodes.freed = freed;
    }

    bool has_waited(const GraphStep& step) const {
        return std::any_of(waits_.begin(), waits_.end(), [&](const auto& wait) {
            return step.comes_after(wait.first, wait.second);
        });
    }

    bool is_changed(std::uint32_t node) const {
        return changed_.empty() || std::binary_search(changed_.begin(), changed_.end(), node);
    }

    bool counts(const NodeUse& a, const NodeUse& b) const {
        return !a.has_waited && !b.has_waited && (a.is_changed || b.is_changed);
    }

    void found_race(const Region& region, NodeUse& earlier, NodeUse& later) {
        if (!counts(earlier, later)) {
            return;
        }
        name(earlier);
        name(later);
        keep({.kind = FindingKind::Race,
              .verdict = verdict_of(earlier.access, later.access),
              .hazard = hazard_of(earlier.access.access, later.access.access),
              .block = region.serial,
              .block_start = region.ptr,
              .block_bytes = region.bytes,
              .ptr = later.access.range.lo,
              .sides = {Side::of(earlier.access), Side::of(later.access)}});
    }

    /// A use of a graph's own memory outside of its life; `use` is one of the two.
    void found(FindingKind kind, const Region& region, NodeUse& earlier, NodeUse& later,
               const NodeUse& use) {
        if (!counts(earlier, later)) {
            return;
        }
        name(earlier);
        name(later);
        const auto side = [&](const NodeUse& node) {
            return &node == &use ? Side::of(node.access)
                                 : Side{.place = node.access.place, .thread = graph_.thread};
        };
        keep({.kind = kind,
              .verdict = certainty_of(use.access),
              .block = region.serial,
              .block_start = region.ptr,
              .block_bytes = region.bytes,
              .ptr = use.access.range.lo,
              .sides = {side(earlier), side(later)}});
    }

    /// Each pair of places once, as surely as it is known.
    void keep(Seen seen) {
        const Key key{seen.kind, seen.hazard, seen.sides[0].place, seen.sides[1].place};
        const auto [kept, is_new] = found_.try_emplace(key, seen);
        if (!is_new && kept->second.verdict < seen.verdict) {
            kept->second = std::move(seen);
        }
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
    std::unordered_map<Address, NodesOfBlock> nodes_;  ///< by the start of the block
    std::map<Key, Seen> found_;
};

void Tracker::compare_nodes(const GraphBody& body, const CallSite& site,
                            std::span<const std::uint32_t> changed) {
    const std::lock_guard lock(state_->mutex);
    GraphComparison comparison(*state_, site, changed);
    visit_in_order(body, [&](const GraphStep& step) { comparison.add(step); });
    comparison.report();
}

// Launches that repeat the one before: a graph may have thousands of nodes, and a loop launches it
// again and again.

/// Whether a launch does what the last one of its executable graph did, from the same place, and
/// nobody else has used its blocks since: it comes after that one, and so after all that came
/// before that one, and takes its place.
bool Tracker::State::repeats_launch(const Operation& operation, PendingOperation& pending) {
    const auto known =
        operation.repeated != 0 ? repeated_launches.find(operation.turn) : repeated_launches.end();
    if (known == repeated_launches.end()) {
        return false;
    }
    RepeatedLaunch& last = known->second;
    const bool is_same = last.number == operation.repeated && last.slot == pending.slot &&
                         last.stack == operation.stack && last.thread == operation.thread;
    const auto is_unused = [&](const RepeatedLaunch::Block& known_block) {
        const TrackedBlock* const block = blocks.find_start(known_block.ptr);
        return block != nullptr && block->serial == known_block.serial &&
               block->history.changes() == known_block.changes;
    };
    if (!is_same || !std::all_of(last.blocks.begin(), last.blocks.end(), is_unused)) {
        return false;
    }
    last.before = std::exchange(last.epoch, pending.epoch);
    for (const RepeatedLaunch::Block& block : last.blocks) {
        blocks.find_start(block.ptr)->history.renew(last.slot, last.before, last.epoch);
    }
    pending.uses = last.uses;
    return true;
}

/// Not where somebody has to be told of every use, or where something is found in every launch.
void Tracker::State::remember_launch(const Operation& operation, const PendingOperation& pending) {
    repeated_launches.erase(operation.turn);
    const auto is_in_bounds = [&](const MemoryAccess& access) {
        const TrackedBlock* const block = blocks.find(access.range.lo);
        return block != nullptr && !block->has_overrun;
    };
    if (policy.watches_calls || remembers_uses || holds_pointers || pending.is_suspect ||
        !std::all_of(operation.accesses.begin(), operation.accesses.end(), is_in_bounds)) {
        return;
    }
    RepeatedLaunch launch{.number = operation.repeated,
                          .stack = operation.stack,
                          .thread = operation.thread,
                          .slot = pending.slot,
                          .epoch = pending.epoch,
                          .before = 0,
                          .blocks = {},
                          .uses = pending.uses};
    std::vector<Address> touched = pending.touched;
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const Address ptr : touched) {
        const TrackedBlock& block = *blocks.find_start(ptr);
        launch.blocks.push_back(
            {.ptr = ptr, .serial = block.serial, .changes = block.history.changes()});
    }
    repeated_launches.insert_or_assign(operation.turn, std::move(launch));
}

/// Of a launch that has failed, if it had taken the place of the one before.
bool Tracker::State::take_back_repetition(const PendingOperation& pending) {
    const auto known = repeated_launches.find(pending.turn);
    if (known == repeated_launches.end() || known->second.slot != pending.slot ||
        known->second.epoch != pending.epoch) {
        return false;
    }
    RepeatedLaunch failed = std::move(known->second);
    repeated_launches.erase(known);
    if (failed.before == 0) {
        return false;
    }
    for (const RepeatedLaunch::Block& block : failed.blocks) {
        if (TrackedBlock* const used = blocks.find_start(block.ptr)) {
            used->history.renew(failed.slot, failed.epoch, failed.before);
        }
    }
    return true;
}

// Memory of graphs (Driver API manual, cuGraphAddMemAllocNode)

void Tracker::graph_memory_given_out(Address ptr, std::uint64_t bytes, const CallSite& node) {
    const std::lock_guard lock(state_->mutex);
    state_->blocks.forget_freed(ptr, ptr + bytes);
    state_->hull.add(ptr, ptr + bytes);
    state_->graph_memory.insert_or_assign(
        ptr, GraphMemory{
                 .bytes = bytes,
                 .allocated = {.place = state_->place_of("alloc", node), .thread = node.thread}});
}

void Tracker::graph_memory_taken_back(Address ptr) {
    const std::lock_guard lock(state_->mutex);
    state_->graph_memory.erase(ptr);
}

void Tracker::graph_memory_freed(Address ptr, const CallSite& node) {
    const std::lock_guard lock(state_->mutex);
    const auto memory = state_->graph_memory.find(ptr);
    if (memory == state_->graph_memory.end() || state_->blocks.find_freed(ptr) != nullptr) {
        return;
    }
    FreedBlock freed;
    freed.ptr = ptr;
    freed.bytes = memory->second.bytes;
    freed.kind = BlockKind::Async;
    freed.place = state_->place_of("free", node);
    freed.thread = node.thread;
    freed.allocated = memory->second.allocated.place;
    state_->blocks.remember_freed(freed);
}

const std::pair<const Address, GraphMemory>* Tracker::State::find_graph_memory(
    Address address) const {
    const auto after = graph_memory.upper_bound(address);
    if (after == graph_memory.begin()) {
        return nullptr;
    }
    const auto& found = *std::prev(after);
    return address < found.first + found.second.bytes ? &found : nullptr;
}

/// No launch has allocated it, or only for itself. Counts whether or not the call succeeds, as that
/// after a free does.
void Tracker::State::check_graph_memory(PastAccess use) {
    const auto& [ptr, memory] = *find_graph_memory(use.range.lo);
    use.range = clipped(use.range, ptr + memory.bytes);
    findings.add({.kind = FindingKind::UseBeforeAlloc,
                  .verdict = certainty_of(use),
                  .block_start = ptr,
                  .block_bytes = memory.bytes,
                  .ptr = use.range.lo,
                  .sides = {memory.allocated, Side::of(use)}});
}

}  // namespace cuward
