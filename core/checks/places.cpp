#include "core/checks/places.hpp"

#include <functional>

namespace cuward {

std::size_t Places::Hash::operator()(const Place& place) const {
    const auto pointers =
        std::hash<const void*>{}(place.op) ^ (std::hash<const void*>{}(place.api) << 1);
    const auto ids =
        (static_cast<std::uint64_t>(place.stack) << 32) | static_cast<std::uint64_t>(place.kernel);
    const auto node = static_cast<std::uint64_t>(place.node) * 0xbf58476d1ce4e5b9ULL;
    return pointers ^ static_cast<std::size_t>((ids ^ node) * 0x9e3779b97f4a7c15ULL);
}

PlaceId Places::intern(const Place& place) {
    if (!places_.empty() && (*this)[last_] == place) {
        return last_;
    }
    const auto [entry, is_new] = ids_.try_emplace(place, static_cast<PlaceId>(places_.size()));
    if (is_new) {
        places_.push_back(place);
    }
    return last_ = entry->second;
}

const char* name_of(OperationKind kind) {
    switch (kind) {
        case OperationKind::Kernel:
            return "kernel";
        case OperationKind::Copy:
            return "copy";
        case OperationKind::Memset:
            return "memset";
        case OperationKind::HostFunction:
            return "host-function";
        case OperationKind::Allocation:
            return "alloc";
        case OperationKind::Free:
            return "free";
        case OperationKind::Values:
            return "value";
        case OperationKind::Graph:
            break;
    }
    return "graph";
}

}  // namespace cuward
