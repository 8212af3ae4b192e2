// The one entrance to what the tool knows of the program: decoders tell it every call, it keeps
// order and blocks up to date and reports hazards. Thread-safe; calls no driver function.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/checks/verdict.hpp"
#include "core/operation.hpp"
#include "core/order/clock.hpp"
#include "core/order/order.hpp"

namespace cuward {

class Log;
struct GraphBody;

/// What the tool is to repair.
struct RepairPolicy {
    std::optional<Verdict> from;  ///< the least sure hazard to name as missing; none: no repairs
    bool watches_calls = false;   ///< keep track of calls that have not returned
};

/// Numbers for the summary at the program's end.
struct Totals {
    std::uint64_t races = 0;            ///< findings, proven or likely
    std::uint64_t possible_races = 0;   ///< findings
    std::uint64_t lifetime_errors = 0;  ///< findings, proven or likely
    std::uint64_t repaired = 0;         ///< findings, proven or likely, each time
    std::uint64_t live_blocks = 0;
    std::uint64_t live_bytes = 0;
};

class Tracker {
  public:
    explicit Tracker(Log& log, const RepairPolicy& policy = {});
    ~Tracker();
    Tracker(const Tracker&) = delete;
    Tracker& operator=(const Tracker&) = delete;

    /// Whether an address may lie in a tracked or recently freed block: two loads, no lock, no
    /// false "no".
    bool may_be_tracked(Address address) const;
    /// Whether a live block starts at an address.
    bool is_live(Address ptr) const;
    /// The context of the live block around an address, if the block is from a pool of the tool's.
    std::optional<ContextId> pool_context(Address address) const;
    /// The live block around an address; BlockKind::Host and Registered are pinned host memory.
    std::optional<KnownBlock> find_block(Address address) const;
    /// Whether copies of the memory there always complete before their call returns
    /// (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS).
    bool always_synchronizes(Address address) const;
    /// Where an array is, or a level of a mipmapped one.
    std::optional<ArrayPlace> find_array(Address handle) const;

    // Streams. A stream first met in another call than its creation counts as `blocking` as given
    // then.
    void stream_created(StreamRef stream, bool blocking, const CallSite& site, ContextId green = 0);
    /// Work queued on it still counts; its handle may be reused.
    void stream_destroyed(StreamRef stream);
    /// Whether the tracker has seen this stream (created or used).
    bool knows_stream(StreamRef stream) const;

    // Events, named by their CUevent.
    void event_created(std::uint64_t event);
    void event_destroyed(std::uint64_t event);
    /// Entry and success of a record: later work of other threads is not covered. Leaves in
    /// `record` what the event held before.
    void begin_record(StreamRef stream, EventRecord& record);
    void event_recorded(std::uint64_t event, StreamRef stream, EventRecord& record);
    /// Entry and success of a wait: later records of other threads are not waited for.
    void begin_wait(StreamRef stream, std::uint64_t event, EventRecord& record);
    /// Entry of a wait for something whose extent is not known (a value that a node waits for):
    /// nothing that came before is reported past it.
    void begin_wait_for_unknown(StreamRef stream, EventRecord& record);
    void stream_waits(StreamRef stream, const EventRecord& record);
    /// Others may record the event too, unseen (another process, a graph): who waits for it may
    /// come after anything.
    void event_shared(std::uint64_t event);

    // Whole contexts (Driver API manual, cuCtxRecordEvent, cuCtxWaitEvent). `work` is that of the
    // context or event when the call was entered.
    void context_recorded(std::uint64_t event, const Clock& work);
    void context_waits(ContextId context, const Clock& work);
    /// A green context shares the work of its parent, and has a context for its handle once it has
    /// been converted.
    void green_context_created(ContextId green, ContextId parent);
    void green_context_converted(ContextId green, ContextId context);

    // Stream capture: calls on a capturing stream build a graph, nothing runs.
    void capture_began(StreamRef stream);
    /// Gives the number of the capture, 0 if there was none.
    std::uint32_t capture_ended(StreamRef stream);
    /// The number of the capture that a stream is part of, 0: none.
    std::uint32_t capture(StreamRef stream);
    /// Whether a stream builds a graph, so that calls which wait for the device would break it.
    bool is_capturing() const;

    // What the host learns. Take the clock when the call is entered (later work of other threads is
    // not waited for), hand it to `host_knows` when the call has returned success.
    Clock work_of_stream(StreamRef stream);
    Clock work_of_event(std::uint64_t event) const;
    Clock work_of_context(ContextId context) const;
    void host_knows(const Clock& complete, Edge edge);

    /// Entry of a call that queues work: gives it its place in the stream's order and checks and
    /// records its accesses. They are recorded already now, so that of two threads that queue
    /// conflicting work at once the later one sees the earlier.
    void begin(const Operation& operation, PendingOperation& pending);
    /// Return of that call; what did not succeed made no access.
    void end(PendingOperation& pending, bool succeeded);

    /// A graph has been instantiated, updated or changed by a call: reports every two of its nodes
    /// that conflict and that nothing orders, each pair of places once; those of which one is
    /// among `changed`, unless that is empty (tracker_graphs.cpp).
    void compare_nodes(const GraphBody& body, const CallSite& site,
                       std::span<const std::uint32_t> changed);

    // Repairs (tracker_repairs.cpp).
    /// The work queued last on a stream; none for a stream that was never seen.
    std::optional<UsePoint> point(StreamRef stream);
    /// Whether `later`, or the host if it is that, comes after `earlier` by the program's own doing
    /// or by an earlier repair. `operation` is what the calling thread is just queuing, if
    /// anything.
    bool comes_after(const UsePoint& earlier, const UsePoint& later,
                     const PendingOperation* operation = nullptr) const;
    /// Whether an event recorded now, before its call returns, is behind all of its stream up to
    /// it.
    bool is_queued_last(const PendingOperation& pending) const;
    class Recording;
    /// A stream is about to be destroyed or captured: no Recording begins on it, and those that
    /// live are waited for, though not for long. Ends with its destruction or unseal.
    void seal(StreamRef stream);
    void unseal(StreamRef stream);
    /// `later` has been made to wait for `earlier`, and so has `operation` if it is queued there.
    void waits(const UsePoint& later, const UsePoint& earlier, PendingOperation* operation);
    /// All that can be repaired before an operation or a free has been.
    void repaired(PendingOperation& pending);
    void repaired(const PendingFree& pending);
    /// Of every stream the work queued last, unless the host knows it complete.
    std::vector<UsePoint> unfinished() const;
    /// Whether a stream that waits for the event becomes part of a capture.
    bool captures_waiters(std::uint64_t event) const;

    // Memory. A block leaves the address map when its free is entered, for its address may be
    // handed out again before the call returns; it comes back when the free fails.
    void allocated(const Allocation& allocation);
    PendingFree begin_free(const FreeRequest& request);
    void end_free(PendingFree& pending, bool succeeded);
    // Memory of graphs (tracker_graphs.cpp). Its nodes' sites are where they were captured or
    // added.

    /// A node allocates memory whenever its graph runs, always at this address.
    void graph_memory_given_out(Address ptr, std::uint64_t bytes, const CallSite& node);
    /// The graph that allocates it is no more; where it is allocated just now it is a block.
    void graph_memory_taken_back(Address ptr);
    /// A launch has allocated it and freed it again.
    void graph_memory_freed(Address ptr, const CallSite& node);

    // Kinds of memory with a life of their own (tracker_memory.cpp).

    /// A level of a mipmapped array has a handle of its own.
    void array_level(Address handle, Address mipmapped, unsigned int level);
    /// The bytes [ptr, ptr + bytes) are those of the physical memory from `offset` on.
    void mapped(Address ptr, std::uint64_t bytes, Address handle, std::uint64_t offset);
    /// One more reference to the physical memory that is mapped at `ptr`.
    void physical_retained(Address handle, Address ptr);
    /// One less. The memory ends when no reference and no mapping is left.
    void physical_released(Address handle, const CallSite& site);
    /// Around a call that unmaps all that is mapped in [ptr, ptr + bytes). It does not wait for
    /// uses: those that may be running are named as missing if they are to be waited for.
    PendingUnmap begin_unmap(Address ptr, std::uint64_t bytes, const CallSite& site);
    void end_unmap(const PendingUnmap& pending, bool succeeded, bool waited);
    /// A multicast object of so many bytes: accesses go to all memory that is bound to it.
    void multicast_created(Address handle, std::uint64_t bytes);
    /// The bytes from `offset` on are, besides others, those of physical memory: the memory of the
    /// handle `memory` from `memory_offset` on, or without a handle what is mapped there.
    void multicast_bound(Address handle, std::uint64_t offset, Address memory,
                         std::uint64_t memory_offset, std::uint64_t bytes);
    void multicast_unbound(Address handle, int device, std::uint64_t offset, std::uint64_t bytes);

    /// The block around `host` has another address for the device.
    void has_device_address(Address host, Address device);
    void set_always_synchronizes(Address ptr, bool synchronizes);
    /// A variable of a module or library: from now on a block, until its code is unloaded.
    void variable_found(const Allocation& variable);
    void code_unloading(std::uint64_t owner, const CallSite& site);

    /// Memory that is not tracked now has these addresses: they are no longer those of freed
    /// blocks.
    void addresses_given_out(Address ptr, std::uint64_t bytes);
    /// The driver has destroyed or reset a context: its streams and blocks are gone with it. Calls
    /// `forget(BlockId)` for each block a resource owned.
    void context_ended(ContextId context, const CallSite& site,
                       const std::function<void(const BlockId&)>& forget);

    // Guarded memory (tracker_guard.cpp). `first_bad` is the address of the first byte around the
    // block, or in it after its free, that somebody wrote.

    /// Findings of the kinds below name the operations that touched the block last: from now on
    /// they are remembered.
    void remember_recent_uses();
    void written_out_of_bounds(const BlockId& block, Address first_bad);
    void written_after_free(const BlockId& block, Address first_bad);
    /// Start and size of the live block around an address, if a resource owns it.
    std::optional<DeviceBlock> find_owned(Address address) const;

    Totals totals() const;
    /// One line a finding for people, the surest first.
    std::vector<std::string> headlines(std::size_t most) const;
    /// Writes final counts; the log's last word from the tracker.
    void finish();

  private:
    struct State;
    class GraphComparison;
    std::unique_ptr<State> state_;
};

/// While it lives an event may be recorded behind `earlier`. Waits first until the calls that queue
/// it have returned, but not for long: the driver may hold one back.
class Tracker::Recording {
  public:
    Recording(Tracker& tracker, const UsePoint& earlier);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    /// What an event would be behind; none if it must not be recorded: the stream has ended, is
    /// captured or takes part in a capture.
    const std::optional<UsePoint>& work() const { return work_; }

  private:
    State& state_;
    std::optional<UsePoint> work_;
};

}  // namespace cuward
