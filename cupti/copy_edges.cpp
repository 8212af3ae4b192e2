// The rules of the Driver API manual, "API synchronization behavior", as one table. Where the
// manual says that a function "may" be synchronous, or says nothing and a GPU was measured to wait,
// the edge is implicit.
#include "cupti/copy_edges.hpp"

#include <array>
#include <limits>

namespace cuward::cupti {
namespace {

enum class Side : std::uint8_t { Device, Pinned, Pageable, AnyHost };

struct CopyRule {
    CallForm form;
    Side source;
    Side destination;
    std::uint64_t more_than_bytes;  ///< the rule holds for larger copies only
    HostEdges edges;
};

constexpr std::uint64_t kAnySize = 0;
/// Measured on driver 580: a pageable source up to this size is staged without waiting for the
/// stream.
constexpr std::uint64_t kStagedWithoutWaiting = std::uint64_t{1} << 20;

constexpr HostEdges kNothing{};
constexpr HostEdges kComplete{Edge::Documented, Edge::Documented};
constexpr HostEdges kCompleteInPractice{Edge::Implicit, Edge::Implicit};

/// The first rule that fits holds; a copy that none fits teaches the host nothing.
constexpr std::array kCopyRules{
    // "For transfers from device to either pageable or pinned host memory, the function returns
    // only
    // once the copy has completed."
    CopyRule{CallForm::Synchronous, Side::Device, Side::AnyHost, kAnySize, kComplete},
    // "For transfers from pinned host memory to device memory, the function is synchronous with
    // respect to the host."
    CopyRule{CallForm::Synchronous, Side::Pinned, Side::Device, kAnySize, kComplete},
    // "For transfers from pageable host memory to device memory, a stream sync is performed before
    // the copy is initiated. The function will return once the pageable buffer has been copied to
    // the staging memory for DMA transfer to device memory, but the DMA to final destination may
    // not
    // have completed."
    CopyRule{CallForm::Synchronous,
             Side::Pageable,
             Side::Device,
             kAnySize,
             {.earlier_work = Edge::Documented, .completion = Edge::None}},
    // "For transfers from any host memory to any host memory, the function is fully synchronous
    // with
    // respect to the host."
    CopyRule{CallForm::Synchronous, Side::AnyHost, Side::AnyHost, kAnySize, kComplete},
    // "For transfers between device memory and pageable host memory, the function might be
    // synchronous with respect to host."
    CopyRule{CallForm::Async, Side::Device, Side::Pageable, kAnySize, kCompleteInPractice},
    // "If pageable memory must first be staged to pinned memory, the driver may synchronize with
    // the
    // stream": measured for large sources only.
    CopyRule{CallForm::Async,
             Side::Pageable,
             Side::Device,
             kStagedWithoutWaiting,
             {.earlier_work = Edge::Implicit, .completion = Edge::None}},
    CopyRule{CallForm::Async, Side::AnyHost, Side::AnyHost, kAnySize, kCompleteInPractice},
};

bool fits(Side side, MemoryType type) {
    switch (side) {
        case Side::Device:
            return type == MemoryType::Device || type == MemoryType::Managed;
        case Side::Pinned:
            return type == MemoryType::Pinned;
        case Side::Pageable:
            return type == MemoryType::Pageable;
        case Side::AnyHost:
            return type == MemoryType::Pinned || type == MemoryType::Pageable;
    }
    return false;
}

}  // namespace

HostEdges copy_edges(CallForm form, MemoryType source, MemoryType destination,
                     std::uint64_t bytes) {
    for (const CopyRule& rule : kCopyRules) {
        if (rule.form == form && fits(rule.source, source) && fits(rule.destination, destination) &&
            (rule.more_than_bytes == kAnySize || bytes > rule.more_than_bytes)) {
            return rule.edges;
        }
    }
    return kNothing;
}

HostEdges memset_edges(CallForm form, MemoryType destination) {
    // "The synchronous memset functions are asynchronous with respect to the host except when the
    // target memory is pinned host memory or a Unified Memory region, in which case they are fully
    // synchronous with respect to the host." The Async versions never are.
    const bool waits = form == CallForm::Synchronous &&
                       (destination == MemoryType::Pinned || destination == MemoryType::Managed);
    return waits ? kComplete : kNothing;
}

}  // namespace cuward::cupti
