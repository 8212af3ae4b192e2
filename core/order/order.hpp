// What is ordered after what: the clocks of the host, the streams and the events (shared rules:
// CUDA Driver API manual, "Stream synchronization behavior" and "API synchronization behavior").
// Not thread-safe.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/order/calls_under_way.hpp"
#include "core/order/clock.hpp"
#include "core/types.hpp"

namespace cuward {

enum class StreamKind : std::uint8_t { Legacy, PerThread, Blocking, NonBlocking };

/// When the order was looked at: how often it had changed by then.
using Moment = std::uint64_t;

/// A record of an event, or a wait for one, and what comes before it.
struct EventRecord {
    Clock clock;
    Moment begun = 0;
    std::uint32_t capture = 0;  ///< the capture that the record is part of; 0: none
    bool is_made = false;       ///< false: of an event never recorded, which makes nothing wait
    bool is_shared = false;     ///< others may have recorded it since
};

class Order {
  public:
    /// `is_alive` tells whether a thread still runs: the per-thread streams of others are gone.
    explicit Order(bool (*is_alive)(std::uint32_t thread) = [](std::uint32_t) { return true; })
        : is_alive_(is_alive) {}

    /// The slot of a stream. A stream first met here, not at its creation, is
    /// taken for a blocking one: an order too many misses a bug, one too few invents it.
    StreamSlot slot_of(StreamRef stream);
    bool knows(StreamRef stream) const;
    StreamKind kind(StreamSlot slot) const { return streams_[slot].kind; }
    StreamRef ref(StreamSlot slot) const { return streams_[slot].ref; }
    /// Changes when a slot is given to another stream.
    std::uint64_t incarnation(StreamSlot slot) const { return streams_[slot].incarnation; }

    /// A reused handle names a new stream; the work of the old one still counts.
    /// `green` is the green context it is made in, 0: none.
    StreamSlot stream_created(StreamRef stream, bool blocking, ContextId green = 0);
    void stream_destroyed(StreamRef stream);

    /// The next operation of a stream: ordered after all the host knows and all the stream waits
    /// for, and after the last record of `event` (0: none).
    Epoch next(StreamSlot slot, std::uint64_t event = 0);
    /// The same in two steps, the entry and the return of the operation's call, where it matters
    /// what other threads queue meanwhile: until its return nobody comes after the operation, or by
    /// it after what it waits for. `clock` is what is complete once the operation is.
    Epoch begin(StreamSlot slot, std::uint64_t event, Clock& clock, Moment& begun);
    void queued(StreamSlot slot, Epoch epoch, const Clock& clock, Moment begun);
    void refused(StreamSlot slot, Epoch epoch) { calls_.remove(slot, epoch); }
    /// A stream has been found to come after something.
    void join(StreamSlot slot, const Clock& clock);
    CallsUnderWay& calls() { return calls_; }
    const CallsUnderWay& calls() const { return calls_; }
    const Clock& clock(StreamSlot slot) const { return streams_[slot].clock; }
    /// The operation queued last.
    Epoch last(StreamSlot slot) const { return streams_[slot].last; }
    /// Whether the stream of this slot has been destroyed.
    bool has_ended(StreamSlot slot) const { return streams_[slot].has_ended; }
    std::size_t slots() const { return streams_.size(); }

    /// Entry and return of a call that queues something which is waited for by nobody: `clock` is
    /// what comes before it.
    void begin_command(StreamSlot slot, Clock& clock, Moment& begun);
    void command_queued(StreamSlot slot, const Clock& clock, Moment begun);

    void event_created(std::uint64_t event);
    void event_destroyed(std::uint64_t event);
    /// Entry and return of a call that records an event: what others queue meanwhile may come
    /// behind. Leaves in `record` what the event held before.
    void begin_record(StreamSlot slot, EventRecord& record);
    void recorded(std::uint64_t event, StreamSlot slot, EventRecord& record);
    /// The event has been recorded behind this work.
    void recorded(std::uint64_t event, const Clock& work);
    void recorded_in_capture(std::uint64_t event, std::uint32_t capture);
    /// An event that others may record too: a wait for it is an implicit edge from all work
    /// besides.
    void event_shared(std::uint64_t event);
    /// Entry and return of a call that makes a stream wait for the record issued last.
    void begin_wait(StreamSlot slot, std::uint64_t event, EventRecord& record);
    void wait(StreamSlot slot, const EventRecord& record);
    /// Entry of a call that makes a stream wait for something that may cover any work queued until
    /// now: an implicit edge from all of it.
    void begin_wait_for_unknown(StreamSlot slot, EventRecord& record);
    /// The tool has made `later` wait for `earlier` up to its operation `epoch`.
    void repair(StreamSlot later, StreamSlot earlier, Epoch epoch);

    void begin_capture(StreamSlot slot);
    void end_capture(StreamSlot slot);
    bool is_capturing(StreamSlot slot) const { return capture(slot) != 0; }
    /// The capture a stream is part of, each of the process with its own number; 0: none.
    std::uint32_t capture(StreamSlot slot) const { return streams_[slot].capture; }
    bool is_anything_capturing() const { return !active_captures_.empty(); }
    /// Whether the default streams cannot be used now, as a stream that synchronizes with them is
    /// captured.
    bool is_blocking_stream_captured() const;
    /// Whether a stream that waits for this event becomes part of a capture.
    bool captures_waiters(std::uint64_t event) const;

    /// What is complete when all work queued on a stream until now is; for the legacy stream that
    /// includes the blocking streams of its context.
    Clock work_of_stream(StreamSlot slot) const;
    Clock work_of_event(std::uint64_t event) const;
    /// Of a context and the green contexts in it.
    Clock work_of_context(ContextId context) const;
    Clock work_of_all() const;

    /// Whether the work of two streams never overlaps, whatever came first: they are the same, or
    /// one is the legacy stream and the other a blocking one of its context.
    bool run_in_turn(StreamSlot a, StreamSlot b) const;

    void host_joins(const Clock& complete);
    void host_joins_implicitly(const Clock& complete);
    const Clock& host() const { return host_; }

    /// All later work of a context and of the green contexts in it waits for this.
    void context_waits(ContextId context, const Clock& work);
    void green_context_created(ContextId green, ContextId parent) { parents_[green] = parent; }
    void green_context_converted(ContextId green, ContextId context) { greens_[context] = green; }
    void context_ended(ContextId context);

  private:
    /// So many destroyed streams whose work may still run are told apart; past it, the work of the
    /// one destroyed first is taken to be complete.
    static constexpr std::size_t kMostRetired = 256;

    struct Stream {
        StreamRef ref;
        StreamKind kind = StreamKind::Blocking;
        Epoch last = 0;
        Clock clock;
        std::uint64_t incarnation = 0;
        ContextId green = 0;
        Moment changed = 0;      ///< when the clock was
        Moment host_seen = 0;    ///< up to when the host's has been joined
        Moment legacy_seen = 0;  ///< up to when the legacy stream's has
        bool has_ended = false;
        bool pending_for_legacy = false;  ///< has commands that the legacy stream has not joined
        std::uint32_t capture = 0;        ///< the capture it is part of; 0: none
    };
    struct Context {
        static constexpr StreamSlot kNone = ~StreamSlot{0};
        StreamSlot legacy = kNone;
        std::vector<StreamSlot> pending_for_legacy;
        Clock awaited;  ///< by all that is queued in it
    };
    struct Key {
        ContextId context;
        StreamId stream;
        std::uint32_t thread;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };

    static Key key_of(StreamRef stream);
    StreamSlot add(const Key& key, StreamRef stream, StreamKind kind, ContextId green);
    StreamSlot free_slot();
    StreamSlot reuse(std::size_t retired);
    void retire_ended_threads();
    ContextId green_of(ContextId context) const;
    bool is_in(const Stream& stream, ContextId context) const;
    void join_what_comes_before(const Stream& stream, Clock& clock);
    void settle(StreamSlot slot, Moment begun);
    void place(StreamSlot slot, std::uint64_t event, Clock& clock);
    bool is_active(std::uint32_t capture) const;
    void retire(std::unordered_map<Key, StreamSlot, KeyHash>::iterator stream);

    bool (*is_alive_)(std::uint32_t thread);
    std::vector<Stream> streams_;
    std::vector<StreamSlot> retired_;  ///< in the order they were destroyed
    std::size_t per_thread_streams_ = 0;
    std::size_t look_for_ended_threads_at_ = 64;
    std::unordered_map<Key, StreamSlot, KeyHash> slots_;
    Key last_key_{0, kNoStream, 0};
    StreamSlot last_slot_ = 0;
    std::unordered_map<ContextId, Context> contexts_;
    std::unordered_map<ContextId, ContextId> parents_;  ///< of green contexts
    std::unordered_map<ContextId, ContextId> greens_;   ///< by the contexts made of them
    std::unordered_map<std::uint64_t, EventRecord> events_;
    CallsUnderWay calls_;
    Clock host_;
    Moment host_changed_ = 0;
    Moment now_ = 0;
    std::uint32_t captures_ = 0;
    std::vector<std::uint32_t> active_captures_;
};

}  // namespace cuward
