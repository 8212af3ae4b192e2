#include "core/graphs/graph_work.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_set>

namespace cuward {
namespace {

struct SameHazards {
    bool operator()(const MemoryAccess& a, const MemoryAccess& b) const {
        return a.range == b.range && a.access == b.access &&
               a.direction_known == b.direction_known && a.range_exact == b.range_exact &&
               a.is_conditional == b.is_conditional && a.pointee == b.pointee &&
               a.pointee_known == b.pointee_known;
    }
};

struct Hash {
    std::size_t operator()(const MemoryAccess& access) const {
        std::uint64_t hash = access.range.lo * 0x9e3779b97f4a7c15ULL;
        hash ^= access.range.width + static_cast<std::uint64_t>(access.access) + (hash >> 29);
        hash *= 0xbf58476d1ce4e5b9ULL;
        return hash ^ (hash >> 32);
    }
};

/// The memory nodes of a graph, and what becomes of their memory in one launch.
class MemoryNodes {
  public:
    void add(const GraphBody& body) {
        for (const SharedGraphWork& node : body.nodes) {
            if (node->memory.ptr != 0) {
                add(node);
            }
            add(node->child);
        }
    }

    /// Whether an access is to memory that lives within a launch only.
    bool is_inner(const MemoryAccess& access) const {
        const auto after = lives_.upper_bound(access.range.lo);
        if (after == lives_.begin()) {
            return false;
        }
        const auto& [ptr, life] = *std::prev(after);
        return life.allocated != nullptr && life.count <= 0 &&
               access.range.lo < ptr + life.allocated->memory.bytes;
    }

    void take(GraphLaunch& launch) const {
        for (const auto& [ptr, life] : lives_) {
            if (life.count > 0) {
                launch.allocations.push_back(life.allocated);
            } else if (life.count < 0) {
                launch.frees.push_back(life.freed);
            } else {
                launch.inner_frees.push_back(life.freed);
            }
        }
    }

  private:
    struct Life {
        SharedGraphWork allocated;
        SharedGraphWork freed;
        int count = 0;  ///< allocations less frees: an address may serve again in one graph
    };

    void add(const SharedGraphWork& node) {
        Life& life = lives_[node->memory.ptr];
        (node->memory.bytes != 0 ? life.allocated : life.freed) = node;
        life.count += node->memory.bytes != 0 ? 1 : -1;
    }

    std::map<Address, Life> lives_;
};

class Merger {
  public:
    explicit Merger(const GraphBody& body) {
        memory_.add(body);
        memory_.take(launch_);
    }

    void add(const GraphBody& body) {
        for (const SharedGraphWork& node : body.nodes) {
            add(*node);
            if (node->concerns_order()) {
                launch_.orders.push_back(node);
            }
        }
    }

    void add(const GraphWork& work) {
        bool is_named = false;
        for (MemoryAccess access : work.accesses) {
            if (memory_.is_inner(access) || !seen_.insert(access).second) {
                continue;
            }
            if (!is_named) {
                launch_.nodes.push_back(work.operation);
                is_named = true;
            }
            access.node = static_cast<std::uint32_t>(launch_.nodes.size());
            launch_.accesses.push_back(access);
        }
        add(work.child);
    }

    GraphLaunch take() {
        static std::atomic<std::uint64_t> launches{0};
        launch_.number = ++launches;
        join_chunks();
        return std::move(launch_);
    }

  private:
    void join_chunks() {
        std::vector<MemoryAccess>& accesses = launch_.accesses;
        std::stable_sort(accesses.begin(), accesses.end(),
                         [](const MemoryAccess& a, const MemoryAccess& b) {
                             return std::tie(a.range_exact, a.access, a.range.lo) <
                                    std::tie(b.range_exact, b.access, b.range.lo);
                         });
        std::size_t kept = 0;
        for (const MemoryAccess& next : accesses) {
            if (kept > 0 && continues(accesses[kept - 1], next)) {
                ByteRange& range = accesses[kept - 1].range;
                range.width = std::max(range.hi(), next.range.hi()) - range.lo;
                accesses[kept - 1].is_joined = true;
            } else {
                accesses[kept++] = next;
            }
        }
        accesses.resize(kept);
    }

    /// Whether the bytes of `next`, which does not start before `access`, are more of the same.
    bool continues(const MemoryAccess& access, const MemoryAccess& next) const {
        return access.range_exact && next.range_exact && access.access == next.access &&
               access.direction_known == next.direction_known &&
               access.is_conditional == next.is_conditional && access.range.is_linear() &&
               next.range.is_linear() && next.range.lo <= access.range.hi() &&
               is_one_place(launch_.nodes[access.node - 1], launch_.nodes[next.node - 1]);
    }
    static bool is_one_place(const Operation& a, const Operation& b) {
        return a.kind == b.kind && a.api == b.api && a.kernel == b.kernel && a.stack == b.stack;
    }

    MemoryNodes memory_;
    GraphLaunch launch_;
    std::unordered_set<MemoryAccess, Hash, SameHazards> seen_;
};

}  // namespace

GraphLaunch merge(const GraphBody& body) {
    Merger merger(body);
    merger.add(body);
    return merger.take();
}

}  // namespace cuward
