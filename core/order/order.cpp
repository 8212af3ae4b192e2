#include "core/order/order.hpp"

#include <algorithm>
#include <utility>

namespace cuward {

std::size_t Order::KeyHash::operator()(const Key& key) const {
    std::uint64_t hash = key.context * 0x9e3779b97f4a7c15ULL;
    hash ^= static_cast<std::uint64_t>(key.stream) + (hash >> 29);
    hash = (hash + key.thread) * 0xbf58476d1ce4e5b9ULL;
    return hash ^ (hash >> 32);
}

// The default streams' handles mean another stream in each context, any other handle one stream
// wherever it is used: it may be waited for while another context is current.
Order::Key Order::key_of(StreamRef stream) {
    if (stream.stream == kLegacyStream) {
        return {stream.context, stream.stream, 0};
    }
    if (stream.stream == kPerThreadStream) {
        return {stream.context, stream.stream, stream.thread};
    }
    return {0, stream.stream, 0};
}

StreamSlot Order::slot_of(StreamRef stream) {
    const Key key = key_of(stream);
    if (key == last_key_) {
        return last_slot_;
    }
    const auto found = slots_.find(key);
    StreamSlot slot = 0;
    if (found != slots_.end()) {
        slot = found->second;
    } else {
        const StreamKind kind = stream.stream == kLegacyStream      ? StreamKind::Legacy
                                : stream.stream == kPerThreadStream ? StreamKind::PerThread
                                                                    : StreamKind::Blocking;
        slot = add(key, stream, kind, 0);
    }
    last_key_ = key;
    last_slot_ = slot;
    return slot;
}

bool Order::knows(StreamRef stream) const {
    return slots_.contains(key_of(stream));
}

StreamSlot Order::stream_created(StreamRef stream, bool blocking, ContextId green) {
    const Key key = key_of(stream);
    if (const auto old = slots_.find(key); old != slots_.end()) {
        retire(old);
    }
    return add(key, stream, blocking ? StreamKind::Blocking : StreamKind::NonBlocking, green);
}

void Order::stream_destroyed(StreamRef stream) {
    if (const auto old = slots_.find(key_of(stream)); old != slots_.end()) {
        retire(old);
    }
}

void Order::retire(std::unordered_map<Key, StreamSlot, KeyHash>::iterator stream) {
    retired_.push_back(stream->second);
    streams_[stream->second].has_ended = true;
    per_thread_streams_ -= stream->first.stream == kPerThreadStream ? 1 : 0;
    last_key_ = {0, kNoStream, 0};
    slots_.erase(stream);
}

StreamSlot Order::add(const Key& key, StreamRef stream, StreamKind kind, ContextId green) {
    if (kind == StreamKind::PerThread && ++per_thread_streams_ >= look_for_ended_threads_at_) {
        retire_ended_threads();
    }
    const StreamSlot slot = free_slot();
    Stream& added = streams_[slot];
    const Epoch last = added.last;
    const std::uint64_t incarnation = added.incarnation + 1;
    added = Stream{};
    added.ref = stream;
    added.kind = kind;
    added.last = last;
    added.incarnation = incarnation;
    added.green = green;
    for (const auto& [context, state] : contexts_) {
        if (is_in(added, context)) {
            added.clock.join(state.awaited);
        }
    }
    added.clock.raise(slot, last);
    slots_.emplace(key, slot);
    if (kind == StreamKind::Legacy) {
        contexts_[stream.context].legacy = slot;
    }
    return slot;
}

// The slot of a destroyed stream serves again once the host knows all its work complete: every
// later operation is ordered after that work anyway, so going on with its epochs invents no order.
StreamSlot Order::free_slot() {
    for (std::size_t i = 0; i < retired_.size(); ++i) {
        if (host_.documented.covers(streams_[retired_[i]].clock.documented)) {
            return reuse(i);
        }
    }
    if (retired_.size() >= kMostRetired) {
        return reuse(0);
    }
    streams_.emplace_back();
    return static_cast<StreamSlot>(streams_.size() - 1);
}

StreamSlot Order::reuse(std::size_t retired) {
    const StreamSlot slot = retired_[retired];
    retired_.erase(retired_.begin() + static_cast<std::ptrdiff_t>(retired));
    Stream& stream = streams_[slot];
    if (std::exchange(stream.pending_for_legacy, false)) {
        // The legacy stream will join the host, which knows this work or is taken to.
        const auto context = contexts_.find(stream.ref.context);
        if (context != contexts_.end()) {
            std::erase(context->second.pending_for_legacy, slot);
        }
    }
    return slot;
}

void Order::retire_ended_threads() {
    for (auto stream = slots_.begin(); stream != slots_.end();) {
        const auto current = stream++;
        if (current->first.stream == kPerThreadStream && !is_alive_(current->first.thread)) {
            retire(current);
        }
    }
    look_for_ended_threads_at_ = 2 * per_thread_streams_ + 64;
}

// Before any command of a stream: it comes after what the host knew when it was queued, and the
// rules of the legacy default stream apply (manual, "Default stream").
void Order::join_what_comes_before(const Stream& stream, Clock& clock) {
    if (stream.host_seen < host_changed_) {
        clock.join(host_);
    }
    if (stream.kind == StreamKind::NonBlocking) {
        return;
    }
    const Context& context = contexts_[stream.ref.context];
    if (stream.kind == StreamKind::Legacy) {
        for (const StreamSlot blocking : context.pending_for_legacy) {
            clock.join(streams_[blocking].clock);
        }
    } else if (context.legacy != Context::kNone) {
        const Stream& legacy = streams_[context.legacy];
        if (stream.legacy_seen < legacy.changed) {
            clock.join(legacy.clock);
        }
    }
}

/// The stream's clock has what came before a command that was begun at that moment.
void Order::settle(StreamSlot slot, Moment begun) {
    Stream& stream = streams_[slot];
    stream.host_seen = std::max(stream.host_seen, begun);
    stream.legacy_seen = std::max(stream.legacy_seen, begun);
    stream.changed = ++now_;
    if (stream.kind == StreamKind::Legacy) {
        std::erase_if(contexts_[stream.ref.context].pending_for_legacy, [&](StreamSlot blocking) {
            const bool is_joined = streams_[blocking].changed <= begun;
            streams_[blocking].pending_for_legacy = !is_joined;
            return is_joined;
        });
    } else if (stream.kind != StreamKind::NonBlocking && !stream.pending_for_legacy) {
        stream.pending_for_legacy = true;
        contexts_[stream.ref.context].pending_for_legacy.push_back(slot);
    }
}

void Order::begin_command(StreamSlot slot, Clock& clock, Moment& begun) {
    begun = now_;
    clock = streams_[slot].clock;
    join_what_comes_before(streams_[slot], clock);
}

void Order::command_queued(StreamSlot slot, const Clock& clock, Moment begun) {
    Stream& stream = streams_[slot];
    if (stream.changed <= begun) {
        stream.clock = clock;
    } else {
        stream.clock.join(clock);
    }
    settle(slot, begun);
}

/// Gives a stream's next operation its place. Those that other threads are just queuing on the
/// stream may come behind it.
void Order::place(StreamSlot slot, std::uint64_t event, Clock& clock) {
    const auto waited_for = event != 0 ? events_.find(event) : events_.end();
    if (waited_for != events_.end()) {
        clock.join(waited_for->second.clock);
    }
    clock.raise(slot, ++streams_[slot].last);
    calls_.leave_out_of(clock, slot);
}

Epoch Order::next(StreamSlot slot, std::uint64_t event) {
    Stream& stream = streams_[slot];
    const Moment begun = now_;
    join_what_comes_before(stream, stream.clock);
    place(slot, event, stream.clock);
    settle(slot, begun);
    return stream.last;
}

Epoch Order::begin(StreamSlot slot, std::uint64_t event, Clock& clock, Moment& begun) {
    begin_command(slot, clock, begun);
    place(slot, event, clock);
    calls_.add(slot, streams_[slot].last);
    return streams_[slot].last;
}

void Order::queued(StreamSlot slot, Epoch epoch, const Clock& clock, Moment begun) {
    calls_.remove(slot, epoch);
    command_queued(slot, clock, begun);
}

void Order::join(StreamSlot slot, const Clock& clock) {
    streams_[slot].clock.join(clock);
    streams_[slot].changed = ++now_;
}

void Order::event_created(std::uint64_t event) {
    events_.erase(event);
}

void Order::event_destroyed(std::uint64_t event) {
    events_.erase(event);
}

void Order::begin_record(StreamSlot slot, EventRecord& record) {
    record.is_made = true;
    record.capture = streams_[slot].capture;
    if (record.capture == 0) {
        begin_command(slot, record.clock, record.begun);
    }
}

void Order::recorded(std::uint64_t event, StreamSlot slot, EventRecord& record) {
    if (record.capture == 0) {
        command_queued(slot, record.clock, record.begun);
    }
    EventRecord& held = events_[event];
    record.is_shared = held.is_shared;
    std::swap(held, record);
}

void Order::recorded(std::uint64_t event, const Clock& work) {
    EventRecord& record = events_[event];
    record.is_made = true;
    record.capture = 0;
    record.clock = work;
}

void Order::recorded_in_capture(std::uint64_t event, std::uint32_t capture) {
    if (event != 0) {
        events_[event].is_made = true;
        events_[event].capture = capture;
    }
}

void Order::event_shared(std::uint64_t event) {
    events_[event].is_shared = true;
}

void Order::begin_wait(StreamSlot slot, std::uint64_t event, EventRecord& record) {
    const auto found = events_.find(event);
    record.is_made = found != events_.end();
    if (!record.is_made) {
        return;
    }
    const EventRecord& held = found->second;
    record.capture = held.capture != 0 && is_active(held.capture) ? held.capture : 0;
    if (record.capture != 0) {
        return;
    }
    begin_command(slot, record.clock, record.begun);
    record.clock.join(work_of_event(event));
    if (held.capture != 0) {
        record.clock.join_implicit(work_of_all());  // a graph records it whenever it runs
    }
}

void Order::begin_wait_for_unknown(StreamSlot slot, EventRecord& record) {
    record.is_made = true;
    record.capture = 0;
    begin_command(slot, record.clock, record.begun);
    record.clock.join_implicit(work_of_all());
}

void Order::wait(StreamSlot slot, const EventRecord& record) {
    if (!record.is_made) {
        return;
    }
    if (record.capture != 0) {
        streams_[slot].capture = is_active(record.capture) ? record.capture : 0;
    } else if (streams_[slot].capture == 0) {
        command_queued(slot, record.clock, record.begun);
    }
}

void Order::repair(StreamSlot later, StreamSlot earlier, Epoch epoch) {
    streams_[later].clock.repaired.raise(earlier, epoch);
    streams_[later].changed = ++now_;
}

bool Order::is_blocking_stream_captured() const {
    return is_anything_capturing() &&
           std::any_of(streams_.begin(), streams_.end(), [](const Stream& stream) {
               return stream.capture != 0 && stream.kind != StreamKind::NonBlocking;
           });
}

bool Order::captures_waiters(std::uint64_t event) const {
    const auto found = events_.find(event);
    return found != events_.end() && found->second.capture != 0 && is_active(found->second.capture);
}

bool Order::is_active(std::uint32_t capture) const {
    return std::find(active_captures_.begin(), active_captures_.end(), capture) !=
           active_captures_.end();
}

void Order::begin_capture(StreamSlot slot) {
    streams_[slot].capture = ++captures_;
    active_captures_.push_back(captures_);
}

void Order::end_capture(StreamSlot slot) {
    const std::uint32_t capture = streams_[slot].capture;
    if (capture == 0) {
        return;
    }
    for (Stream& stream : streams_) {
        if (stream.capture == capture) {
            stream.capture = 0;
        }
    }
    std::erase(active_captures_, capture);
}

bool Order::run_in_turn(StreamSlot a, StreamSlot b) const {
    const auto takes_turns = [&](const Stream& legacy, const Stream& other) {
        return legacy.kind == StreamKind::Legacy && other.kind != StreamKind::NonBlocking &&
               legacy.ref.context == other.ref.context;
    };
    return a == b || takes_turns(streams_[a], streams_[b]) || takes_turns(streams_[b], streams_[a]);
}

Clock Order::work_of_stream(StreamSlot slot) const {
    const Stream& stream = streams_[slot];
    Clock work = stream.clock;
    if (stream.kind == StreamKind::Legacy) {
        const auto context = contexts_.find(stream.ref.context);
        if (context != contexts_.end()) {
            for (const StreamSlot blocking : context->second.pending_for_legacy) {
                work.join(streams_[blocking].clock);
            }
        }
    }
    return work;
}

Clock Order::work_of_event(std::uint64_t event) const {
    const auto found = events_.find(event);
    if (found == events_.end()) {
        return {};
    }
    const EventRecord& held = found->second;
    Clock work = held.capture == 0 ? held.clock : Clock{};
    if (held.is_shared) {
        work.join_implicit(work_of_all());
    }
    return work;
}

ContextId Order::green_of(ContextId context) const {
    const auto green = greens_.find(context);
    return green != greens_.end() ? green->second : context;
}

/// A green context is meant by its own handle or by that of the context made of it, and is part of
/// its parent.
bool Order::is_in(const Stream& stream, ContextId context) const {
    const ContextId own = stream.green != 0 ? stream.green : green_of(stream.ref.context);
    if (own == green_of(context)) {
        return true;
    }
    const auto parent = parents_.find(own);
    return parent != parents_.end() && parent->second == context;
}

Clock Order::work_of_context(ContextId context) const {
    Clock work;
    for (const Stream& stream : streams_) {
        if (is_in(stream, context)) {
            work.join(stream.clock);
        }
    }
    return work;
}

void Order::context_waits(ContextId context, const Clock& work) {
    for (StreamSlot slot = 0; slot < streams_.size(); ++slot) {
        if (is_in(streams_[slot], context)) {
            join(slot, work);
        }
    }
    contexts_[context].awaited.join(work);
}

Clock Order::work_of_all() const {
    Clock work;
    for (const Stream& stream : streams_) {
        work.join(stream.clock);
    }
    return work;
}

void Order::host_joins(const Clock& complete) {
    if (host_.join(complete)) {
        host_changed_ = ++now_;
    }
}

void Order::host_joins_implicitly(const Clock& complete) {
    if (host_.join_implicit(complete)) {
        host_changed_ = ++now_;
    }
}

void Order::context_ended(ContextId context) {
    host_joins(work_of_context(context));
    for (auto stream = slots_.begin(); stream != slots_.end();) {
        const auto current = stream++;
        if (streams_[current->second].ref.context == context) {
            streams_[current->second].pending_for_legacy = false;
            retire(current);
        }
    }
    contexts_.erase(context);
}

}  // namespace cuward
