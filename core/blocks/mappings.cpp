#include "core/blocks/mappings.hpp"

#include <algorithm>
#include <iterator>

namespace cuward {

void Mappings::add(const Mapping& mapping) {
    remove(mapping.lo, mapping.hi);
    mappings_.emplace(mapping.lo, mapping);
}

std::optional<Mapping> Mappings::find(Address address) const {
    const auto after = mappings_.upper_bound(address);
    if (after == mappings_.begin() || address >= std::prev(after)->second.hi) {
        return std::nullopt;
    }
    return std::prev(after)->second;
}

bool Mappings::leads_to(Address lo, Address hi) const {
    return std::any_of(mappings_.begin(), mappings_.end(), [&](const auto& entry) {
        return entry.second.memory < hi && lo < entry.second.memory_end();
    });
}

std::vector<Mapping> Mappings::remove(Address lo, Address hi) {
    std::vector<Mapping> removed;
    auto next = mappings_.lower_bound(lo);
    while (next != mappings_.end() && next->first < hi) {
        removed.push_back(next->second);
        next = mappings_.erase(next);
    }
    return removed;
}

std::vector<Mapping> Mappings::remove_memory(Address lo, Address hi) {
    std::vector<Mapping> removed;
    for (auto next = mappings_.begin(); next != mappings_.end();) {
        const bool is_there = next->second.memory >= lo && next->second.memory < hi;
        if (is_there) {
            removed.push_back(next->second);
        }
        next = is_there ? mappings_.erase(next) : std::next(next);
    }
    return removed;
}

}  // namespace cuward
