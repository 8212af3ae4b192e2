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

/// The first rule that fits holds; a copy that none fits teaches the host nothing. Sources: Driver
/// API manual, "API synchronization behavior", and the measured table of copies.
constexpr std::array kCopyRules{
    // Device to host, whether pinned or pageable: complete on return.
    CopyRule{CallForm::Synchronous, Side::Device, Side::AnyHost, kAnySize, kComplete},
    // Pinned host to device: complete on return.
    CopyRule{CallForm::Synchronous, Side::Pinned, Side::Device, kAnySize, kComplete},
    // Pageable host to device: the stream's earlier work is awaited and the source staged, but the
    // transfer
    // from the staging memory may still run.
    CopyRule{CallForm::Synchronous,
             Side::Pageable,
             Side::Device,
             kAnySize,
             {.earlier_work = Edge::Documented, .completion = Edge::None}},
    // Host to host: complete on return.
    CopyRule{CallForm::Synchronous, Side::AnyHost, Side::AnyHost, kAnySize, kComplete},
    // The manual leaves open whether an async copy to pageable memory waits.
    CopyRule{CallForm::Async, Side::Device, Side::Pageable, kAnySize, kCompleteInPractice},
    // It lets the driver wait for the stream before it stages pageable memory; measured for large
    // sources only.
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
    // Manual, "API synchronization behavior": the forms without Async wait for pinned host and for
    // managed memory only.
    const bool waits = form == CallForm::Synchronous &&
                       (destination == MemoryType::Pinned || destination == MemoryType::Managed);
    return waits ? kComplete : kNothing;
}

}  // namespace cuward::cupti
