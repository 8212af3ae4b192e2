// What the program asked the device to do, as the decoders describe it to the tracker.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/array_layout.hpp"
#include "core/blocks/mappings.hpp"
#include "core/byte_range.hpp"
#include "core/order/clock.hpp"
#include "core/order/value_operation.hpp"
#include "core/resource/device_memory_resource.hpp"
#include "core/resource/use_order.hpp"
#include "core/types.hpp"

namespace cuward {

/// Strength of an order: documented by the manual, or seen in practice only.
enum class Edge : std::uint8_t { None, Implicit, Documented };

enum class OperationKind : std::uint8_t {
    Kernel,
    Copy,
    Memset,
    HostFunction,
    Graph,
    Values,      ///< written for those who wait for them, or waited for
    Allocation,  ///< as a graph's node
    Free         ///< as a graph's node
};

/// One range of memory an operation touches, whether or not a tracked block is there.
struct MemoryAccess {
    ByteRange range;  ///< width 0: from lo to the end of the block there (kernel arguments)
    Access access = Access::ReadWrite;
    bool direction_known = true;  ///< false: `access` is the worst case, not knowledge
    bool range_exact = true;      ///< false: somewhere within `range`
    bool is_conditional = false;  ///< by a node that a graph runs or does not
    bool is_value = false;        ///< written for those who wait for it, or waited for
    bool is_joined = false;       ///< of several ranges, which may lie in neighbouring blocks
    std::uint32_t node = 0;       ///< of a graph's launch: which of `Operation::nodes`, from 1
    /// Of the memory that pointers stored there lead to.
    Access pointee = Access::ReadWrite;
    bool pointee_known = false;
};

/// An address that a copy puts into device memory.
struct StoredAddress {
    Address place = 0;
    Address value = 0;
    bool begins_a_table = false;  ///< the copy begins with it
};

using Dim3 = std::array<std::uint32_t, 3>;

/// A call that queues work on a stream.
struct Operation {
    OperationKind kind = OperationKind::Kernel;
    const char* api = "";  ///< driver function, a string that lives for ever
    StreamRef stream;
    KernelId kernel{};
    Dim3 grid{};
    Dim3 threads{};
    StackId stack{};
    std::uint32_t thread = 0;
    std::span<const MemoryAccess> accesses{};
    std::span<const StoredAddress> stored{};  ///< by place, all in one block
    bool is_batch = false;                    ///< of copies that have no order among them
    const Operation* nodes = nullptr;         ///< of a graph's launch: whose accesses those are
    std::uint64_t turn = 0;  ///< an event that it waits for and then records anew; 0: none
    /// Those with the same number, which is not 0, make the same accesses; 0: not known.
    std::uint64_t repeated = 0;
    std::span<const ValueOperation> values{};  ///< written and waited for in this order
    /// Events that a kernel's launch records: when its blocks say so, and when they have begun.
    std::uint64_t trigger_event = 0;
    std::uint64_t start_event = 0;
    /// When the call returns, the host knows that work queued before it on its stream is complete …
    Edge earlier_work_to_host = Edge::None;
    /// … or that the operation itself is (implies the former).
    Edge completion_to_host = Edge::None;
};

/// An operation between entry and return of its call. Reused from call to call, so that the hot
/// path allocates nothing.
struct PendingOperation {
    struct Use {
        BlockId block;
        Access access;
    };

    bool active = false;        ///< false: nothing to end (stream in capture, tracking off)
    std::uint32_t capture = 0;  ///< the capture its stream is in, 0: none
    bool is_suspect = false;    ///< something was found that counts if the call succeeds
    std::uint32_t slot = 0;
    std::uint64_t epoch = 0;
    StreamRef stream;
    Edge earlier_work_to_host = Edge::None;
    Edge completion_to_host = Edge::None;
    std::uint64_t turn = 0;
    std::span<const ValueOperation> values{};
    std::uint64_t trigger_event = 0;
    std::uint64_t start_event = 0;
    Clock complete;  ///< once the operation is; taken at entry, for what others queue later is not
                     ///< waited for. Kept if somebody needs it.
    std::uint64_t begun = 0;       ///< when it was taken
    std::vector<Use> uses;         ///< tracked blocks that resources own, each once
    std::vector<Address> touched;  ///< starts of all tracked blocks touched
    /// Work that it does not come after and that the tool is to order before it: of each stream
    /// the latest.
    std::vector<UsePoint> missing;

    bool teaches_host() const {
        return earlier_work_to_host != Edge::None || completion_to_host != Edge::None;
    }
    bool records_events() const { return turn != 0 || trigger_event != 0 || start_event != 0; }
    bool keeps_complete() const { return teaches_host() || records_events() || !values.empty(); }
};

/// Where in the program a call was made.
struct CallSite {
    const char* api = "";  ///< driver function, a string that lives for ever
    StackId stack{};
    std::uint32_t thread = 0;  ///< kernel thread id
};

enum class BlockKind : std::uint8_t {
    Device,
    Async,
    Pitched,
    Managed,
    Host,
    Registered,
    Array,
    MipmappedArray,
    Physical,      ///< of cuMemCreate: used through mappings
    PhysicalHost,  ///< the same, on the host
    Ipc,           ///< of another process, opened by its handle
    Imported,      ///< buffer of external memory, or pointer into a pool of another process
    Global,        ///< a variable of the program's device code
    ManagedGlobal
};

constexpr bool is_array(BlockKind kind) {
    return kind == BlockKind::Array || kind == BlockKind::MipmappedArray;
}
constexpr bool is_physical(BlockKind kind) {
    return kind == BlockKind::Physical || kind == BlockKind::PhysicalHost;
}
constexpr bool is_global(BlockKind kind) {
    return kind == BlockKind::Global || kind == BlockKind::ManagedGlobal;
}

/// What a decoder may want to know of a live block.
struct KnownBlock {
    BlockKind kind = BlockKind::Device;
    Address end = 0;        ///< address after its last byte
    bool is_alias = false;  ///< found by an address that is mapped to it, not by its own
};

/// A successful allocation.
struct Allocation {
    BlockKind kind = BlockKind::Device;
    Address ptr = 0;  ///< for arrays and physical memory the handle
    std::uint64_t bytes = 0;
    ArrayLayout layout{};
    bool is_imported = false;  ///< other processes may use it
    std::uint64_t owner = 0;   ///< of a variable: its module or library
    ContextId context = 0;
    int device = -1;
    StreamRef stream;                   ///< for BlockKind::Async: the stream it is ordered on
    bool free_waits_for_device = true;  ///< where a free of this kind of memory usually does
    BlockId resource_block;  ///< set when a DeviceMemoryResource owns it (device_ordinal >= 0)
    CallSite site;
};

/// What a free call may free: freeing host memory with cuMemFree is an invalid free.
enum class FreeKind : std::uint8_t {
    Device,
    Async,
    Host,
    Unregister,
    Array,
    MipmappedArray,
    Ipc  ///< cuIpcCloseMemHandle
};

struct FreeRequest {
    FreeKind kind = FreeKind::Device;
    Address ptr = 0;
    ContextId context = 0;
    StreamRef stream;  ///< for FreeKind::Async
    CallSite site;
};

/// A cuMemUnmap between entry and return of its call.
struct PendingUnmap {
    std::vector<Mapping> mappings{};
    /// Uses that may be running and that the tool is to wait for.
    std::vector<UsePoint> missing{};
    CallSite site;
};

/// A free between entry and return of its call.
struct PendingFree {
    std::uint64_t block = 0;  ///< serial number of the block taken off the map; 0: there was none
    BlockId resource_block;   ///< as given at allocation
    bool is_behind_uses = false;    ///< every use is complete before the memory is used anew …
    bool waits_for_device = false;  ///< … and when the call returns
    Clock awaited{};                ///< by a free that waits for the device, or by its stream
    std::uint64_t begun = 0;        ///< when that was
    /// Uses that it does not come after and that the tool is to order before it.
    std::vector<UsePoint> missing{};
    StreamRef stream{};             ///< that has to wait for them
    bool is_behind_stream = false;  ///< to be freed there, although the program asked for cuMemFree
    FreeRequest request;
};

}  // namespace cuward
