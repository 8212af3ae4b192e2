// What the host learns when a copy or memset call returns.
#pragma once

#include <cstdint>

#include "core/operation.hpp"

namespace cuward::cupti {

/// Memory as the synchronization rules tell it apart. Arrays are device memory.
enum class MemoryType : std::uint8_t { Device, Managed, Pinned, Pageable };

enum class CallForm : std::uint8_t { Synchronous, Async };

struct HostEdges {
    Edge earlier_work = Edge::None;  ///< work queued on the stream before the copy is complete
    Edge completion = Edge::None;    ///< the copy itself is complete (implies the former)
    bool operator==(const HostEdges&) const = default;
};

HostEdges copy_edges(CallForm form, MemoryType source, MemoryType destination, std::uint64_t bytes);
HostEdges memset_edges(CallForm form, MemoryType destination);

}  // namespace cuward::cupti
