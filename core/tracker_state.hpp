// What the tracker keeps, guarded by one mutex; shared by the files that implement it.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/blocks/mappings.hpp"
#include "core/blocks/tracked_blocks.hpp"
#include "core/checks/findings.hpp"
#include "core/log/log.hpp"
#include "core/order/order.hpp"
#include "core/order/value_writes.hpp"
#include "core/resource/use_order.hpp"
#include "core/thread_id.hpp"
#include "core/tracker.hpp"

namespace cuward {

/// What the log is told of a stream when it is first referred to.
struct StreamRecord {
    std::uint64_t incarnation = 0;
    std::uint32_t id = 0;
    CallSite created;
};

/// The addresses any block ever had. Only grows, so that it can be read without a lock.
class AddressHull {
  public:
    void add(Address lo, Address hi) {
        if (lo < lo_.load(std::memory_order_relaxed)) {
            lo_.store(lo, std::memory_order_relaxed);
        }
        if (hi > hi_.load(std::memory_order_relaxed)) {
            hi_.store(hi, std::memory_order_relaxed);
        }
    }
    bool contains(Address address) const {
        return address >= lo_.load(std::memory_order_relaxed) &&
               address < hi_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<Address> lo_{~Address{0}};
    std::atomic<Address> hi_{0};
};

/// Something found in a call under way, which counts if the call succeeds.
struct Suspect {
    Seen seen;
    StreamSlot earlier = 0;  ///< stream of the earlier side, if it is one that can be waited for
    Epoch epoch = 0;         ///< its operation there; 0: nothing to wait for
};

inline void mark_repaired(std::vector<Suspect>& suspects, const Clock& clock) {
    for (Suspect& suspect : suspects) {
        suspect.seen.is_repaired =
            suspect.epoch != 0 && clock.covers(suspect.earlier, suspect.epoch);
    }
}

/// A wait for a value that nobody is known to have written: what follows on its stream may come
/// after work that is still to be queued.
struct OpenWait {
    ValueOperation wait;
    StreamSlot slot = 0;
    Epoch epoch = 0;
};

/// Other processes may order and use imported memory: nothing about it is proven.
template <typename Block>
Verdict at_most(const Block& block, Verdict verdict) {
    return block.is_imported ? std::min(verdict, Verdict::Likely) : verdict;
}

/// The address that a finding names: memory without one goes by its handle.
template <typename Block>
Address shown(const Block& block, Address address) {
    return block.handle != 0 ? block.handle : address;
}

/// Over how many mappings of physical memory the pointer of a kernel is taken to reach. Programs
/// that grow an array map thousands, each of some megabytes.
constexpr int kMostReached = 8;

/// A block whose free is under way, and what has been found in that.
struct RetiredBlock {
    TrackedBlock block;
    std::vector<Suspect> suspects;
};

/// What an access touches of its block: kernels' arguments say where it starts only.
inline ByteRange clipped(ByteRange range, Address end) {
    const std::uint64_t to_end = end - range.lo;
    if (range.width == 0) {
        range.width = to_end;
    } else if (range.is_linear()) {
        range.width = std::min(range.width, to_end);
    }
    return range;
}

/// Memory of a node of a graph, which lives from time to time.
struct GraphMemory {
    std::uint64_t bytes = 0;
    Side allocated;  ///< the node
};

/// The last launch of an executable graph, if nothing was found in it: as long as nobody else uses
/// its blocks, the next one finds nothing either.
struct RepeatedLaunch {
    struct Block {
        Address ptr;
        std::uint64_t serial;
        std::uint64_t changes;
    };

    std::uint64_t number = 0;  ///< Operation::repeated
    StackId stack{};
    std::uint32_t thread = 0;
    StreamSlot slot = 0;
    Epoch epoch = 0;
    Epoch before = 0;  ///< the launch whose place it took; 0: none
    std::vector<Block> blocks;
    std::vector<PendingOperation::Use> uses;
};

/// Adds work to what has to be waited for, of each stream the latest.
inline void add_missing(std::vector<UsePoint>& missing, const UsePoint& earlier) {
    for (UsePoint& known : missing) {
        if (known.lane == earlier.lane) {
            known.position = std::max(known.position, earlier.position);
            return;
        }
    }
    missing.push_back(earlier);
}

struct Tracker::State {
    State(Log& the_log, const RepairPolicy& the_policy)
        : policy(the_policy), log(the_log), order(is_thread_alive), findings(the_log, places) {}

    /// Decoders call on the thread whose call they decode, so its per-thread stream is this
    /// thread's.
    StreamSlot slot_of(StreamRef stream) {
        if (stream.stream == kPerThreadStream) {
            stream.thread = this_thread_id();
        }
        return order.slot_of(stream);
    }
    std::uint32_t stream_id(StreamSlot slot, std::uint32_t thread);
    void touch_each(const Operation& operation, const MemoryAccess& access,
                    PendingOperation& pending, PlaceId place);
    void touch_parts(const Operation& operation, const MemoryAccess& access,
                     PendingOperation& pending, PlaceId place);
    std::optional<Address> touch_named(const Operation& operation, const MemoryAccess& access,
                                       PendingOperation& pending, PlaceId place);
    std::optional<Address> touch(const Operation& operation, const MemoryAccess& access,
                                 PendingOperation& pending, PlaceId place);
    std::optional<Address> touch_bound(const Operation& operation, const MemoryAccess& access,
                                       PendingOperation& pending, PlaceId place);
    std::optional<Address> translate(MemoryAccess& access) const;
    std::optional<Address> next_block(const TrackedBlock* block, const MemoryAccess& access);
    TrackedBlock* block_at(Address address);
    void check_batch(const Operation& operation, PendingOperation& pending, PlaceId place);
    std::vector<StoredAddress> carried_pointers(const Operation& operation);
    void move_pointers(const Operation& operation);
    void hold_pointers(std::span<const StoredAddress> stored);
    void touch_reached(const Operation& operation, const MemoryAccess& access,
                       PendingOperation& pending, PlaceId place);
    PastAccess describe(const Operation& operation, const MemoryAccess& access, StreamSlot slot,
                        Epoch epoch, PlaceId place);
    void place(PendingOperation& pending);
    void record_events(const PendingOperation& pending);
    void returned(const PendingOperation& pending, bool succeeded);
    /// What comes before an operation under way.
    const Clock& clock_of(const PendingOperation& pending) const {
        return policy.watches_calls ? pending.complete : order.clock(pending.slot);
    }
    void wait_for_values(PendingOperation& pending, Clock& clock);
    bool is_provided(const ValueOperation& wait, Clock& clock);
    void values_queued(const PendingOperation& pending);
    void open_wait(const OpenWait& wait);
    void end_waits(const ValueOperation& write, const Clock& clock);
    bool waits_for_later_work(StreamSlot slot, Epoch epoch) const;
    void suspect(PendingOperation& pending, const Suspect& found);
    void check_alive(PastAccess use);
    void check_allocated(const TrackedBlock& block, const PastAccess& use,
                         PendingOperation& pending);
    void check_bounds(TrackedBlock& block, const PastAccess& use);
    template <typename Damaged>
    void report_damage(const Damaged& block, PlaceId allocated, Seen seen);
    void report_unordered(const TrackedBlock& block, const PastAccess& earlier,
                          const PastAccess& later, PendingOperation& pending);
    std::vector<Suspect> check_free_in_order(const TrackedBlock& block, PendingFree& pending,
                                             const Side& freed);
    std::optional<StreamRef> stream_to_free_on(const TrackedBlock& block, ContextId current);
    bool is_to_repair(Verdict verdict) const {
        return policy.from.has_value() && verdict >= *policy.from;
    }

    /// The work of a stream up to `epoch`, for whoever waits for it.
    UsePoint point_of(StreamSlot slot, Epoch epoch) const;
    /// The last operation of a stream that its call has certainly queued.
    Epoch last_queued(StreamSlot slot) const;
    bool wait_until_queued(std::unique_lock<std::mutex>& lock, StreamSlot slot, Epoch epoch);
    bool is_default(StreamSlot slot) const;
    bool breaks_capture(StreamSlot slot, StreamSlot captured) const;
    bool can_record_on(StreamSlot slot, StreamId handle) const;
    Address start_of(const FreeRequest& request) const;
    void count(const TrackedBlock& block, int by) {
        if (!is_global(block.kind)) {
            live_blocks += static_cast<std::uint64_t>(by);
            live_bytes += static_cast<std::uint64_t>(by) * block.bytes;
        }
    }
    void report_bad_free(const FreeRequest& request);
    void freed(const TrackedBlock& block, const Side& side, const CallSite& site);
    bool has_room(TrackedBlock*& memory, std::uint64_t bytes);
    void freed_if_unused(TrackedBlock& memory, const CallSite& site);
    void remember_unmapped(const Mapping& mapping, const CallSite& site);
    std::vector<Suspect> check_unmapped(const Mapping& mapping, const CallSite& site);
    Side side_of(const FreeRequest& request);
    PlaceId place_of(const char* op, const CallSite& site) {
        return places.intern({.op = op, .api = site.api, .kernel = {}, .stack = site.stack});
    }
    const std::pair<const Address, GraphMemory>* find_graph_memory(Address address) const;
    void check_graph_memory(PastAccess use);
    bool repeats_launch(const Operation& operation, PendingOperation& pending);
    void remember_launch(const Operation& operation, const PendingOperation& pending);
    bool take_back_repetition(const PendingOperation& pending);
    PlaceId place_of_node(const Operation& graph, const Operation& node);

    std::mutex mutex;
    const RepairPolicy policy;
    Log& log;
    Order order;
    ValueWrites values;
    std::vector<OpenWait> open_waits;
    TrackedBlocks blocks;
    std::map<Address, GraphMemory> graph_memory;
    std::unordered_map<std::uint64_t, RepeatedLaunch> repeated_launches;  ///< by Operation::turn
    Mappings mappings;
    /// From the bytes of multicast objects to those of the memory bound to them, which may be many.
    std::vector<Mapping> bindings;
    std::unordered_map<Address, std::uint64_t> multicasts;  ///< sizes, by place
    /// Starts of the variables of a module or library.
    std::unordered_multimap<std::uint64_t, Address> variables;
    std::unordered_map<std::uint64_t, RetiredBlock> retired;  ///< by the block's serial number
    Places places;
    Findings findings;
    /// What was found in calls under way: it counts if they succeed.
    std::map<std::pair<StreamSlot, Epoch>, std::vector<Suspect>> suspects;
    std::vector<StreamSlot> recordings;  ///< streams on which the tool records an event just now
    std::vector<StreamSlot> sealed;      ///< streams on which none may be recorded
    std::condition_variable changed;     ///< a call has returned, or one of these two is shorter
    AddressHull hull;
    std::vector<StreamRecord> streams;
    bool holds_pointers = false;  ///< some block has been found to hold addresses of others
    bool remembers_uses = false;  ///< the last of each block, for findings about guarded memory
    std::uint32_t stream_ids = 0;
    std::uint64_t serials = 0;
    std::uint64_t live_blocks = 0;  ///< that somebody has to free
    std::uint64_t live_bytes = 0;
};

}  // namespace cuward
