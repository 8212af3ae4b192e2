#include "core/graphs/graph_work.hpp"

#include <cstddef>
#include <unordered_set>

namespace cuward {
namespace {

struct SameHazards {
    bool operator()(const MemoryAccess& a, const MemoryAccess& b) const {
        return a.range == b.range && a.access == b.access &&
               a.direction_known == b.direction_known && a.range_exact == b.range_exact;
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

class Merger {
  public:
    void add(const GraphWork& work) {
        bool is_named = false;
        for (MemoryAccess access : work.accesses) {
            if (!seen_.insert(access).second) {
                continue;
            }
            if (!is_named) {
                launch_.nodes.push_back(work.operation);
                is_named = true;
            }
            access.node = static_cast<std::uint32_t>(launch_.nodes.size());
            launch_.accesses.push_back(access);
        }
        for (const SharedGraphWork& child : work.children) {
            add(*child);
        }
    }

    GraphLaunch take() { return std::move(launch_); }

  private:
    GraphLaunch launch_;
    std::unordered_set<MemoryAccess, Hash, SameHazards> seen_;
};

}  // namespace

GraphLaunch merge(const std::vector<SharedGraphWork>& work) {
    Merger merger;
    for (const SharedGraphWork& node : work) {
        merger.add(*node);
    }
    return merger.take();
}

}  // namespace cuward
