#include "core/tracker.hpp"

#include "core/tracker_state.hpp"

namespace cuward {
namespace {

bool frees(FreeKind free, BlockKind block) {
    switch (block) {
        case BlockKind::Device:
        case BlockKind::Async:
        case BlockKind::Pitched:
        case BlockKind::Managed:
        case BlockKind::Imported:
            return free == FreeKind::Device || free == FreeKind::Async;
        case BlockKind::Host:
            return free == FreeKind::Host;
        case BlockKind::Registered:
            return free == FreeKind::Unregister;
        case BlockKind::Array:
            return free == FreeKind::Array;
        case BlockKind::MipmappedArray:
            return free == FreeKind::MipmappedArray;
        case BlockKind::Ipc:
            return free == FreeKind::Ipc;
        case BlockKind::Physical:
        case BlockKind::PhysicalHost:
        case BlockKind::Global:
        case BlockKind::ManagedGlobal:
            break;
    }
    return false;
}

bool is_of_array(FreeKind kind) {
    return kind == FreeKind::Array || kind == FreeKind::MipmappedArray;
}

const char* name_of(StreamKind kind) {
    switch (kind) {
        case StreamKind::Legacy:
            return "legacy";
        case StreamKind::PerThread:
            return "per-thread";
        case StreamKind::Blocking:
            return "blocking";
        case StreamKind::NonBlocking:
            break;
    }
    return "non-blocking";
}

/// Leaves each block once. A graph may have thousands.
void combine(std::vector<PendingOperation::Use>& uses) {
    using Use = PendingOperation::Use;
    std::sort(uses.begin(), uses.end(),
              [](const Use& a, const Use& b) { return a.block.ptr < b.block.ptr; });
    std::size_t kept = 0;
    for (const Use& use : uses) {
        if (kept == 0 || uses[kept - 1].block != use.block) {
            uses[kept++] = use;
        } else if (uses[kept - 1].access != use.access) {
            uses[kept - 1].access = Access::ReadWrite;
        }
    }
    uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(kept), uses.end());
}

}  // namespace

Tracker::Tracker(Log& log, const RepairPolicy& policy)
    : state_(std::make_unique<State>(log, policy)) {}
Tracker::~Tracker() = default;

// Streams and events

std::uint32_t Tracker::State::stream_id(StreamSlot slot, std::uint32_t thread) {
    if (slot >= streams.size()) {
        streams.resize(slot + 1);
    }
    StreamRecord& record = streams[slot];
    if (record.incarnation != order.incarnation(slot)) {
        record = {.incarnation = order.incarnation(slot), .id = 0, .created = {}};
    }
    if (record.id == 0) {
        record.id = ++stream_ids;
        CallSite site = record.created;
        site.thread = site.thread != 0 ? site.thread : thread;
        log.stream(record.id, order.ref(slot), name_of(order.kind(slot)), site);
    }
    return record.id;
}

void Tracker::stream_created(StreamRef stream, bool blocking, const CallSite& site,
                             ContextId green) {
    const std::lock_guard lock(state_->mutex);
    const StreamSlot slot = state_->order.stream_created(stream, blocking, green);
    if (slot >= state_->streams.size()) {
        state_->streams.resize(slot + 1);
    }
    state_->streams[slot] = {
        .incarnation = state_->order.incarnation(slot), .id = 0, .created = site};
}

void Tracker::stream_destroyed(StreamRef stream) {
    const std::lock_guard lock(state_->mutex);
    if (state_->order.knows(stream)) {
        std::erase(state_->sealed, state_->slot_of(stream));
    }
    state_->order.stream_destroyed(stream);
}

bool Tracker::knows_stream(StreamRef stream) const {
    const std::lock_guard lock(state_->mutex);
    return state_->order.knows(stream);
}

void Tracker::event_created(std::uint64_t event) {
    const std::lock_guard lock(state_->mutex);
    state_->order.event_created(event);
}

void Tracker::event_destroyed(std::uint64_t event) {
    const std::lock_guard lock(state_->mutex);
    state_->repeated_launches.erase(event);
    state_->order.event_destroyed(event);
}

void Tracker::begin_record(StreamRef stream, EventRecord& record) {
    const std::lock_guard lock(state_->mutex);
    state_->order.begin_record(state_->slot_of(stream), record);
}

void Tracker::event_recorded(std::uint64_t event, StreamRef stream, EventRecord& record) {
    const std::lock_guard lock(state_->mutex);
    state_->order.recorded(event, state_->slot_of(stream), record);
}

void Tracker::begin_wait(StreamRef stream, std::uint64_t event, EventRecord& record) {
    const std::lock_guard lock(state_->mutex);
    state_->order.begin_wait(state_->slot_of(stream), event, record);
}

void Tracker::begin_wait_for_unknown(StreamRef stream, EventRecord& record) {
    const std::lock_guard lock(state_->mutex);
    state_->order.begin_wait_for_unknown(state_->slot_of(stream), record);
}

void Tracker::stream_waits(StreamRef stream, const EventRecord& record) {
    const std::lock_guard lock(state_->mutex);
    state_->order.wait(state_->slot_of(stream), record);
}

void Tracker::event_shared(std::uint64_t event) {
    const std::lock_guard lock(state_->mutex);
    state_->order.event_shared(event);
}

void Tracker::context_recorded(std::uint64_t event, const Clock& work) {
    const std::lock_guard lock(state_->mutex);
    state_->order.recorded(event, work);
}

void Tracker::context_waits(ContextId context, const Clock& work) {
    const std::lock_guard lock(state_->mutex);
    state_->order.context_waits(context, work);
}

void Tracker::green_context_created(ContextId green, ContextId parent) {
    const std::lock_guard lock(state_->mutex);
    state_->order.green_context_created(green, parent);
}

void Tracker::green_context_converted(ContextId green, ContextId context) {
    const std::lock_guard lock(state_->mutex);
    state_->order.green_context_converted(green, context);
}

void Tracker::capture_began(StreamRef stream) {
    const std::lock_guard lock(state_->mutex);
    state_->order.begin_capture(state_->slot_of(stream));
}

std::uint32_t Tracker::capture_ended(StreamRef stream) {
    const std::lock_guard lock(state_->mutex);
    const StreamSlot slot = state_->slot_of(stream);
    const std::uint32_t capture = state_->order.capture(slot);
    state_->order.end_capture(slot);
    return capture;
}

std::uint32_t Tracker::capture(StreamRef stream) {
    const std::lock_guard lock(state_->mutex);
    return state_->order.capture(state_->slot_of(stream));
}

bool Tracker::is_capturing() const {
    const std::lock_guard lock(state_->mutex);
    return state_->order.is_anything_capturing();
}

Clock Tracker::work_of_stream(StreamRef stream) {
    const std::lock_guard lock(state_->mutex);
    return state_->order.work_of_stream(state_->slot_of(stream));
}

Clock Tracker::work_of_event(std::uint64_t event) const {
    const std::lock_guard lock(state_->mutex);
    return state_->order.work_of_event(event);
}

Clock Tracker::work_of_context(ContextId context) const {
    const std::lock_guard lock(state_->mutex);
    return state_->order.work_of_context(context);
}

void Tracker::host_knows(const Clock& complete, Edge edge) {
    const std::lock_guard lock(state_->mutex);
    if (edge == Edge::Documented) {
        state_->order.host_joins(complete);
    } else if (edge == Edge::Implicit) {
        state_->order.host_joins_implicitly(complete);
    }
}

// Operations

bool Tracker::may_be_tracked(Address address) const {
    return state_->hull.contains(address);
}

bool Tracker::is_live(Address ptr) const {
    const std::lock_guard lock(state_->mutex);
    return state_->blocks.find_start(ptr) != nullptr;
}

std::optional<ContextId> Tracker::pool_context(Address address) const {
    if (!may_be_tracked(address)) {
        return std::nullopt;
    }
    const std::lock_guard lock(state_->mutex);
    const TrackedBlock* const block = state_->blocks.find(address);
    const bool is_pooled = block != nullptr && block->resource_block.device_ordinal >= 0 &&
                           !block->free_waits_for_device;
    return is_pooled ? std::optional(block->context) : std::nullopt;
}

std::optional<KnownBlock> Tracker::find_block(Address address) const {
    if (!may_be_tracked(address)) {
        return std::nullopt;
    }
    const std::lock_guard lock(state_->mutex);
    if (const TrackedBlock* const block = state_->block_at(address)) {
        const auto mapping = state_->mappings.find(address);
        return KnownBlock{block->kind, mapping ? mapping->hi : block->end(), mapping.has_value()};
    }
    if (const auto* const memory = state_->find_graph_memory(address)) {
        return KnownBlock{BlockKind::Async, memory->first + memory->second.bytes};
    }
    return std::nullopt;
}

void Tracker::begin(const Operation& operation, PendingOperation& pending) {
    pending.uses.clear();
    pending.touched.clear();
    pending.missing.clear();
    pending.is_suspect = false;
    const std::lock_guard lock(state_->mutex);
    const StreamSlot slot = state_->slot_of(operation.stream);
    pending.capture = state_->order.capture(slot);
    pending.active = !state_->order.is_capturing(slot);
    if (!pending.active) {
        for (const std::uint64_t event : {operation.trigger_event, operation.start_event}) {
            state_->order.recorded_in_capture(event, pending.capture);
        }
        return;
    }
    pending.slot = slot;
    pending.stream = operation.stream;
    pending.earlier_work_to_host = operation.earlier_work_to_host;
    pending.completion_to_host = operation.completion_to_host;
    pending.turn = operation.turn;
    pending.values = operation.values;
    pending.trigger_event = operation.trigger_event;
    pending.start_event = operation.start_event;
    state_->place(pending);
    if (operation.accesses.empty() || state_->repeats_launch(operation, pending)) {
        return;
    }
    const PlaceId place = state_->places.intern({.op = name_of(operation.kind),
                                                 .api = operation.api,
                                                 .kernel = operation.kernel,
                                                 .stack = operation.stack});
    std::vector<PlaceId> places_of_nodes;
    const auto place_of = [&](const MemoryAccess& access) {
        if (access.node == 0) {
            return place;
        }
        if (access.node > places_of_nodes.size()) {
            places_of_nodes.resize(access.node, kNoPlace);
        }
        PlaceId& known = places_of_nodes[access.node - 1];
        if (known == kNoPlace) {
            known = state_->place_of_node(operation, operation.nodes[access.node - 1]);
        }
        return known;
    };
    for (const MemoryAccess& access : operation.accesses) {
        state_->touch_each(operation, access, pending, place_of(access));
    }
    if (!operation.stored.empty() || state_->holds_pointers) {
        state_->move_pointers(operation);
    }
    if (operation.is_batch) {
        state_->check_batch(operation, pending, place);
    }
    combine(pending.uses);
    pending.is_suspect = state_->suspects.contains({pending.slot, pending.epoch});
    if (operation.repeated != 0) {
        state_->remember_launch(operation, pending);
    }
}

/// Where nothing is repaired, an operation counts as queued at once: the host threads are taken for
/// one, which misses what depends on their luck, and invents nothing.
void Tracker::State::place(PendingOperation& pending) {
    if (policy.watches_calls) {
        pending.epoch = order.begin(pending.slot, pending.turn, pending.complete, pending.begun);
        wait_for_values(pending, pending.complete);
        return;
    }
    pending.epoch = order.next(pending.slot, pending.turn);
    if (pending.keeps_complete()) {
        pending.complete = order.clock(pending.slot);
    }
    if (!pending.values.empty()) {
        wait_for_values(pending, pending.complete);
        order.join(pending.slot, pending.complete);
    }
}

/// What an operation records comes before whoever waits for it, but not all of the operation does
/// (CUlaunchAttributeID): a kernel may go on after it has triggered an event, and has not done
/// anything yet when it has begun.
void Tracker::State::record_events(const PendingOperation& pending) {
    if (pending.turn != 0) {
        order.recorded(pending.turn, pending.complete);
    }
    Clock before = pending.records_events() ? pending.complete : Clock{};
    before.documented.lower(pending.slot, pending.epoch - 1);
    if (pending.trigger_event != 0) {
        order.recorded(pending.trigger_event, before);
    }
    before.lower(pending.slot, pending.epoch - 1);
    if (pending.start_event != 0) {
        order.recorded(pending.start_event, before);
    }
}

/// The call of an operation has returned.
void Tracker::State::returned(const PendingOperation& pending, bool succeeded) {
    if (succeeded) {
        record_events(pending);
        values_queued(pending);
    }
    if (!policy.watches_calls) {
        return;
    }
    if (succeeded) {
        order.queued(pending.slot, pending.epoch, pending.complete, pending.begun);
    } else {
        order.refused(pending.slot, pending.epoch);
    }
    changed.notify_all();
}

/// Where a graph was launched or instantiated, and where one of its nodes was captured or added.
PlaceId Tracker::State::place_of_node(const Operation& graph, const Operation& node) {
    const PlaceId built = places.intern(
        {.op = name_of(node.kind), .api = node.api, .kernel = node.kernel, .stack = node.stack});
    return places.intern({.op = name_of(graph.kind),
                          .api = graph.api,
                          .kernel = node.kernel,
                          .stack = graph.stack,
                          .node = built});
}

PastAccess Tracker::State::describe(const Operation& operation, const MemoryAccess& access,
                                    StreamSlot slot, Epoch epoch, PlaceId place) {
    const Operation& work = access.node == 0 ? operation : operation.nodes[access.node - 1];
    return {.range = access.range,
            .epoch = epoch,
            .slot = slot,
            .place = place,
            .stream = stream_id(slot, operation.thread),
            .thread = operation.thread,
            .grid = work.grid,
            .threads = work.threads,
            .access = access.access,
            .direction_known = access.direction_known,
            .range_exact = access.range_exact,
            .is_conditional = access.is_conditional,
            .is_value = access.is_value};
}

void Tracker::State::touch_each(const Operation& operation, const MemoryAccess& access,
                                PendingOperation& pending, PlaceId place) {
    touch_parts(operation, access, pending, place);
    if (holds_pointers && !access.range_exact) {
        touch_reached(operation, access, pending, place);
    }
}

/// What a graph's nodes do to neighbouring blocks may have been joined, a copy may go on from one
/// registered range to the next, and memory may be mapped in parts: each block gets its part.
void Tracker::State::touch_parts(const Operation& operation, const MemoryAccess& access,
                                 PendingOperation& pending, PlaceId place) {
    std::optional<Address> next = touch_named(operation, access, pending, place);
    if (!next) {
        return;
    }
    MemoryAccess rest = access;
    // Where in its memory a kernel's pointer still leads to is a guess.
    rest.direction_known = access.direction_known && access.range_exact;
    for (int part = 1; next && (part < kMostReached || access.range_exact); ++part) {
        if (rest.range.width != 0) {
            rest.range = ByteRange::linear(*next, rest.range.hi() - *next);
        }
        rest.range.lo = *next;
        next = touch_named(operation, rest, pending, place);
    }
}

/// Touches the memory that has this address, and gives where the access goes on. Most memory has
/// one address only.
std::optional<Address> Tracker::State::touch_named(const Operation& operation,
                                                   const MemoryAccess& access,
                                                   PendingOperation& pending, PlaceId place) {
    if (mappings.empty() && bindings.empty()) {
        return touch(operation, access, pending, place);
    }
    MemoryAccess here = access;
    const std::optional<Address> next = translate(here);
    const std::optional<Address> next_there = bindings.empty()
                                                  ? touch(operation, here, pending, place)
                                                  : touch_bound(operation, here, pending, place);
    return next ? next : next_there;
}

/// Where the block starts that an access goes on in.
std::optional<Address> Tracker::State::next_block(const TrackedBlock* block,
                                                  const MemoryAccess& access) {
    if (block == nullptr) {
        // A copy may start in ordinary memory in front of a range that has been registered.
        const TrackedBlock* const next = access.range_exact && access.range.is_linear()
                                             ? blocks.first_from(access.range.lo)
                                             : nullptr;
        const bool is_reached =
            next != nullptr && next->kind == BlockKind::Registered && next->ptr < access.range.hi();
        return is_reached ? std::optional(next->ptr) : std::nullopt;
    }
    const bool spans = access.is_joined || (access.range_exact && access.range.is_linear() &&
                                            block->kind == BlockKind::Registered);
    if (!spans || access.range.hi() <= block->end()) {
        return std::nullopt;
    }
    const TrackedBlock* const next =
        access.is_joined ? blocks.find(block->end()) : blocks.first_from(block->end());
    return next != nullptr && next->ptr < access.range.hi() ? std::optional(next->ptr)
                                                            : std::nullopt;
}

/// Touches one block, and gives where the next one starts that the access reaches into.
std::optional<Address> Tracker::State::touch(const Operation& operation, const MemoryAccess& access,
                                             PendingOperation& pending, PlaceId place) {
    TrackedBlock* block = blocks.find(access.range.lo);
    const std::optional<Address> next = next_block(block, access);
    if (block == nullptr) {
        if (blocks.find_freed(access.range.lo) != nullptr) {
            check_alive(describe(operation, access, pending.slot, pending.epoch, place));
        } else if (find_graph_memory(access.range.lo) != nullptr) {
            check_graph_memory(describe(operation, access, pending.slot, pending.epoch, place));
        }
        return next;
    }
    PastAccess use = describe(operation, access, pending.slot, pending.epoch, place);
    if (next) {
        use.range.width = block->end() - use.range.lo;
    }
    if (use.range_exact) {
        check_bounds(*block, use);
    }
    use.range = clipped(use.range, block->end());
    check_allocated(*block, use, pending);
    if (!values.empty() && writes(use.access) && !use.is_value) {
        values.overwritten(use.range);
    }
    if (remembers_uses) {
        block->recent.add(use);
    }
    block->history.add(
        use, clock_of(pending), order.host(), order.calls(),
        [&](const PastAccess& earlier) { report_unordered(*block, earlier, use, pending); });

    // A graph may touch few blocks thousands of times, one address after the other.
    if (pending.touched.empty() || pending.touched.back() != block->ptr) {
        pending.touched.push_back(block->ptr);
    }
    const PendingOperation::Use use_of_block{.block = block->resource_block,
                                             .access = access.access};
    const bool is_same = !pending.uses.empty() && pending.uses.back().block == use_of_block.block &&
                         pending.uses.back().access == use_of_block.access;
    if (block->resource_block.device_ordinal >= 0 && !is_same) {
        pending.uses.push_back(use_of_block);
    }
    return next;
}

void Tracker::State::suspect(PendingOperation& pending, const Suspect& found) {
    Suspect& kept = suspects[{pending.slot, pending.epoch}].emplace_back(found);
    if (found.epoch == 0) {
        return;
    }
    // What has been repaired before stays a finding, and stays repaired.
    kept.seen.is_repaired = clock_of(pending).covers(found.earlier, found.epoch);
    if (!kept.seen.is_repaired && is_to_repair(found.seen.verdict)) {
        add_missing(pending.missing, point_of(found.earlier, found.epoch));
    }
}

void Tracker::State::check_alive(PastAccess use) {
    FreedBlock& block = *blocks.find_freed(use.range.lo);
    if (use.range.width == 0) {
        use.range.width = block.end() - use.range.lo;
    }
    if (remembers_uses) {
        block.recent.add(use);
    }
    // Counts whether or not the call succeeds: the driver may have refused it for this very reason.
    findings.add({.kind = FindingKind::UseAfterFree,
                  .verdict = at_most(block, certainty_of(use)),
                  .block = block.serial,
                  .block_start = block.ptr,
                  .block_bytes = block.bytes,
                  .ptr = shown(block, use.range.lo),
                  .sides = {{.place = block.place, .stream = block.stream, .thread = block.thread},
                            Side::of(use)}});
}

// Counts at once, as the driver may refuse the call for this very reason. Registered memory is left
// out: the program's own memory goes on behind it. So are arrays, as the size of some formats is
// not known.
void Tracker::State::check_bounds(TrackedBlock& block, const PastAccess& use) {
    if (use.range.hi() <= block.end() || block.kind == BlockKind::Registered ||
        is_array(block.kind)) {
        return;
    }
    block.has_overrun = true;
    findings.add({.kind = FindingKind::OutOfBounds,
                  .verdict = Verdict::Proven,
                  .block = block.serial,
                  .block_start = block.ptr,
                  .block_bytes = block.bytes,
                  .ptr = block.end(),
                  .sides = {Side::of(use)}});
}

// Stream-ordered memory is usable from its allocation on, in the order of the stream (Driver API
// manual, "Stream Ordered Memory Allocator").
void Tracker::State::check_allocated(const TrackedBlock& block, const PastAccess& use,
                                     PendingOperation& pending) {
    if (block.epoch == 0 || clock_of(pending).known.covers(block.slot, block.epoch)) {
        return;
    }
    const Side allocated{.place = block.place, .stream = block.stream, .thread = block.thread};
    suspect(pending, {.seen = {.kind = FindingKind::UseBeforeAlloc,
                               .verdict = certainty_of(use),
                               .block = block.serial,
                               .block_start = block.ptr,
                               .block_bytes = block.bytes,
                               .ptr = shown(block, use.range.lo),
                               .sides = {allocated, Side::of(use)}},
                      .earlier = block.slot,
                      .epoch = block.epoch});
}

void Tracker::State::report_unordered(const TrackedBlock& block, const PastAccess& earlier,
                                      const PastAccess& later, PendingOperation& pending) {
    if (order.run_in_turn(earlier.slot, later.slot)) {
        return;  // which call comes first is for the program's threads to say
    }
    const bool is_implicit = clock_of(pending).known.covers(earlier.slot, earlier.epoch) ||
                             waits_for_later_work(earlier.slot, earlier.epoch);
    const Verdict verdict = at_most(block, verdict_of(earlier, later));
    if (is_implicit && verdict == Verdict::Possible) {
        return;
    }
    suspect(pending,
            {.seen = {.kind = is_implicit ? FindingKind::ReliesOnImplicitSync : FindingKind::Race,
                      .verdict = verdict,
                      .hazard = hazard_of(earlier.access, later.access),
                      .block = block.serial,
                      .block_start = block.ptr,
                      .block_bytes = block.bytes,
                      .ptr = shown(block, later.range.lo),
                      .sides = {Side::of(earlier), Side::of(later)}},
             .earlier = earlier.slot,
             .epoch = is_implicit ? 0 : earlier.epoch});
}

void Tracker::end(PendingOperation& pending, bool succeeded) {
    if (!std::exchange(pending.active, false)) {
        return;
    }
    if (succeeded && !pending.keeps_complete() && !pending.is_suspect &&
        !state_->policy.watches_calls) {
        return;
    }
    const std::lock_guard lock(state_->mutex);
    state_->returned(pending, succeeded);
    const auto found = state_->suspects.extract({pending.slot, pending.epoch});
    if (succeeded && !found.empty()) {
        for (const Suspect& suspect : found.mapped()) {
            state_->findings.add(suspect.seen);
        }
    }
    if (!succeeded && state_->take_back_repetition(pending)) {
        return;
    }
    if (!succeeded) {
        for (const Address ptr : pending.touched) {
            if (TrackedBlock* block = state_->blocks.find_start(ptr)) {
                block->history.withdraw(pending.slot, pending.epoch);
            }
        }
        return;
    }
    const auto learn = [&](Edge edge, const Clock& complete) {
        if (edge == Edge::Documented) {
            state_->order.host_joins(complete);
        } else if (edge == Edge::Implicit) {
            state_->order.host_joins_implicitly(complete);
        }
    };
    learn(pending.completion_to_host, pending.complete);
    pending.complete.lower(pending.slot, pending.epoch - 1);
    learn(pending.earlier_work_to_host, pending.complete);
}

// Memory

void Tracker::allocated(const Allocation& allocation) {
    const std::lock_guard lock(state_->mutex);
    if (allocation.kind == BlockKind::Ipc) {
        TrackedBlock* const opened = state_->blocks.find_start(allocation.ptr);
        if (opened != nullptr && opened->kind == BlockKind::Ipc) {
            ++opened->references;
            return;
        }
    }
    TrackedBlock block;
    block.serial = ++state_->serials;
    const bool has_address = !is_array(allocation.kind) && !is_physical(allocation.kind);
    (has_address ? block.ptr : block.handle) = allocation.ptr;
    block.bytes = allocation.bytes;
    block.is_imported = allocation.is_imported;
    block.context = allocation.context;
    block.resource_block = allocation.resource_block;
    block.kind = allocation.kind;
    block.free_waits_for_device = allocation.free_waits_for_device;
    block.device = static_cast<std::int16_t>(allocation.device);
    block.thread = allocation.site.thread;
    block.place = state_->place_of("alloc", allocation.site);
    if (allocation.kind == BlockKind::Async) {
        block.slot = state_->slot_of(allocation.stream);
        block.epoch = state_->order.next(block.slot);
        block.stream = state_->stream_id(block.slot, allocation.site.thread);
    }
    if (has_address) {
        state_->hull.add(block.ptr, block.end());
    }
    state_->count(block, 1);
    state_->log.alloc(block.serial, allocation, block.stream);
    const TrackedBlock& added = state_->blocks.add(std::move(block));
    if (is_array(added.kind)) {
        state_->blocks.set_array(added.handle, {.range = ByteRange::linear(added.ptr, added.bytes),
                                                .layout = allocation.layout});
    }
}

/// What an address, or the handle of an array, stands for.
Address Tracker::State::start_of(const FreeRequest& request) const {
    if (!is_of_array(request.kind)) {
        return request.ptr;
    }
    const auto array = blocks.find_array(request.ptr);
    return array ? array->range.lo : 0;
}

Side Tracker::State::side_of(const FreeRequest& request) {
    Side side{.place = place_of("free", request.site), .stream = 0, .thread = request.site.thread};
    if (request.kind == FreeKind::Async) {
        side.stream = stream_id(slot_of(request.stream), request.site.thread);
    }
    return side;
}

PendingFree Tracker::begin_free(const FreeRequest& request) {
    const std::lock_guard lock(state_->mutex);
    PendingFree pending;
    pending.request = request;
    TrackedBlock* block = state_->blocks.find_start(state_->start_of(request));
    if (block == nullptr || !frees(request.kind, block->kind) || block->references > 1) {
        return pending;
    }
    pending.block = block->serial;
    pending.resource_block = block->resource_block;
    // Manual, "API synchronization behavior": frees of ordinary memory wait in practice only.
    pending.is_behind_uses = request.kind != FreeKind::Async && block->kind != BlockKind::Async;
    pending.waits_for_device = pending.is_behind_uses && block->free_waits_for_device;
    if (pending.waits_for_device) {
        pending.awaited = state_->order.work_of_context(block->context);
    }
    std::vector<Suspect> found =
        state_->check_free_in_order(*block, pending, state_->side_of(request));
    if (!pending.missing.empty()) {
        const auto stream = request.kind == FreeKind::Async
                                ? request.stream
                                : state_->stream_to_free_on(*block, request.context);
        pending.stream = stream.value_or(StreamRef{});
        pending.missing.resize(stream ? pending.missing.size() : 0);
    }
    state_->retired.emplace(pending.block, RetiredBlock{.block = state_->blocks.remove(*block),
                                                        .suspects = std::move(found)});
    return pending;
}

std::vector<Suspect> Tracker::State::check_free_in_order(const TrackedBlock& block,
                                                         PendingFree& pending, const Side& freed) {
    std::vector<Suspect> found;
    const auto report = [&](FindingKind kind, const PastAccess& use) {
        found.push_back({.seen = {.kind = kind,
                                  .verdict = at_most(block, certainty_of(use)),
                                  .block = block.serial,
                                  .block_start = block.ptr,
                                  .block_bytes = block.bytes,
                                  .ptr = shown(block, use.range.lo),
                                  .sides = {Side::of(use), freed}},
                         .earlier = use.slot,
                         .epoch = use.epoch});
    };
    const auto report_in_flight = [&](const Clock& complete) {
        block.history.for_each_outstanding(complete.known, [&](const PastAccess& use) {
            report(FindingKind::FreedInFlight, use);
        });
        mark_repaired(found, complete);
        for (const Suspect& suspect : found) {
            if (!suspect.seen.is_repaired && is_to_repair(suspect.seen.verdict)) {
                add_missing(pending.missing, point_of(suspect.earlier, suspect.epoch));
            }
        }
    };
    const FreeRequest& request = pending.request;
    if (request.kind == FreeKind::Async) {
        order.begin_command(slot_of(request.stream), pending.awaited, pending.begun);
        report_in_flight(pending.awaited);
    } else if (!pending.is_behind_uses) {
        report_in_flight(order.host());
    } else {
        block.history.for_each_outstanding(order.host().documented, [&](const PastAccess& use) {
            report(FindingKind::ReliesOnImplicitSync, use);
        });
    }
    return found;
}

/// Where memory of a pool can be freed behind its uses although the program asked for cuMemFree,
/// which does not wait for them: on the stream of its allocation, or else on the legacy stream.
std::optional<StreamRef> Tracker::State::stream_to_free_on(const TrackedBlock& block,
                                                           ContextId current) {
    const StreamRef own = order.ref(block.slot);
    if (!is_default(block.slot) && can_record_on(block.slot, own.stream)) {
        return own;
    }
    const StreamRef legacy{.context = current, .stream = kLegacyStream};
    return can_record_on(slot_of(legacy), kLegacyStream) ? std::optional(legacy) : std::nullopt;
}

void Tracker::end_free(PendingFree& pending, bool succeeded) {
    const std::lock_guard lock(state_->mutex);
    auto retired = state_->retired.extract(pending.block);
    if (retired.empty()) {
        if (!succeeded) {
            state_->report_bad_free(pending.request);
        } else if (TrackedBlock* const shared =
                       state_->blocks.find_start(state_->start_of(pending.request))) {
            shared->references -= shared->references > 1 ? 1 : 0;
        }
        return;
    }
    TrackedBlock& block = retired.mapped().block;
    if (!succeeded) {
        state_->blocks.add(std::move(block));
        return;
    }
    for (const Suspect& suspect : retired.mapped().suspects) {
        state_->findings.add(suspect.seen);
    }
    if (pending.request.kind == FreeKind::Async) {
        state_->order.command_queued(state_->slot_of(pending.request.stream), pending.awaited,
                                     pending.begun);
    } else if (pending.waits_for_device) {
        state_->order.host_joins_implicitly(pending.awaited);
    }
    state_->freed(block, state_->side_of(pending.request), pending.request.site);
}

void Tracker::State::freed(const TrackedBlock& block, const Side& side, const CallSite& site) {
    count(block, -1);
    log.free(block.serial, side.stream, site);
    if (!mappings.empty()) {
        mappings.remove_memory(block.ptr, block.end());
    }
    blocks.remember_freed({.serial = block.serial,
                           .ptr = block.ptr,
                           .bytes = block.bytes,
                           .handle = block.handle,
                           .kind = block.kind,
                           .place = side.place,
                           .stream = side.stream,
                           .thread = side.thread,
                           .generation = block.resource_block.generation,
                           .allocated = block.place,
                           .recent = block.recent,
                           .has_overrun = block.has_overrun,
                           .is_imported = block.is_imported});
}

// The driver has refused to free what is no live block of the right kind.
void Tracker::State::report_bad_free(const FreeRequest& request) {
    const Side side = side_of(request);
    const Address ptr = start_of(request);
    const FreedBlock* before = blocks.find_freed(ptr);
    Seen seen{.kind = FindingKind::InvalidFree,
              .verdict = Verdict::Proven,
              .ptr = request.ptr,
              .sides = {side}};
    if (before != nullptr && before->ptr == ptr && frees(request.kind, before->kind)) {
        seen.kind = FindingKind::DoubleFree;
        seen.block = before->serial;
        seen.block_start = before->ptr;
        seen.block_bytes = before->bytes;
        seen.sides = {{.place = before->place, .stream = before->stream, .thread = before->thread},
                      side};
    } else if (const TrackedBlock* around =
                   is_of_array(request.kind) ? nullptr : blocks.find(ptr)) {
        seen.block = around->serial;
        seen.block_start = around->ptr;
        seen.block_bytes = around->bytes;
    }
    findings.add(seen);
}

void Tracker::addresses_given_out(Address ptr, std::uint64_t bytes) {
    const std::lock_guard lock(state_->mutex);
    state_->blocks.forget_freed(ptr, ptr + bytes);
}

void Tracker::context_ended(ContextId context, const CallSite& site,
                            const std::function<void(const BlockId&)>& forget) {
    std::vector<BlockId> owned;
    {
        const std::lock_guard lock(state_->mutex);
        std::vector<TrackedBlock*> ended;
        state_->blocks.for_each([&](TrackedBlock& block) {
            if (block.context == context) {
                ended.push_back(&block);
            }
        });
        const Side side{
            .place = state_->place_of("free", site), .stream = 0, .thread = site.thread};
        for (TrackedBlock* block : ended) {
            if (block->resource_block.device_ordinal >= 0) {
                owned.push_back(block->resource_block);
            }
            state_->freed(state_->blocks.remove(*block), side, site);
        }
        std::erase_if(state_->variables, [&](const auto& variable) {
            return state_->blocks.find_start(variable.second) == nullptr;
        });
        state_->order.context_ended(context);
    }
    for (const BlockId& block : owned) {
        forget(block);
    }
}

// The end

Totals Tracker::totals() const {
    const std::lock_guard lock(state_->mutex);
    const Findings& findings = state_->findings;
    Totals totals;
    const std::uint64_t races = findings.count(FindingKind::Race, Verdict::Possible);
    totals.races = findings.count(FindingKind::Race, Verdict::Likely);
    totals.possible_races = races - totals.races;
    for (const FindingKind kind :
         {FindingKind::UseAfterFree, FindingKind::UseBeforeAlloc, FindingKind::FreedInFlight,
          FindingKind::DoubleFree, FindingKind::InvalidFree, FindingKind::OutOfBounds}) {
        totals.lifetime_errors += findings.count(kind, Verdict::Likely);
    }
    totals.repaired = findings.repaired();
    totals.live_blocks = state_->live_blocks;
    totals.live_bytes = state_->live_bytes;
    return totals;
}

std::vector<std::string> Tracker::headlines(std::size_t most) const {
    const std::lock_guard lock(state_->mutex);
    return state_->findings.headlines(most);
}

void Tracker::finish() {
    const std::lock_guard lock(state_->mutex);
    state_->findings.write_counts();
}

}  // namespace cuward
