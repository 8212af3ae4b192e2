// A driver call as the tracker needs to know it: what it queues, records, waits for or ends.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/graphs/graphs.hpp"
#include "core/operation.hpp"
#include "core/order/clock.hpp"
#include "core/order/order.hpp"
#include "core/types.hpp"
#include "cupti/memory_objects.hpp"

namespace cuward::cupti {

enum class Effect : std::uint8_t {
    None,                   ///< nothing to tell the tracker
    Queue,                  ///< `operation` is queued
    StreamCreated,          ///< handle in `created`, kind in `blocking`
    StreamDestroyed,        ///< `stream`
    StreamComplete,         ///< success means that the work of `stream` is complete
    StreamWaitsEvent,       ///< `stream` waits for `events[0]`
    EventCreated,           ///< handle in `created`
    EventDestroyed,         ///< `events[0]`
    EventRecorded,          ///< `events[0]` on `stream`
    EventShared,            ///< `events[0]`, or the handle in `created`: others may record it too
    EventsComplete,         ///< success means that `events` are complete; 0 is none
    ContextRecorded,        ///< the work of the context of `stream` in `events[0]`
    ContextWaitsEvent,      ///< all later work of the context of `stream` waits for `events[0]`
    GreenContextCreated,    ///< in the context of `stream`, handle in `created`
    GreenContextConverted,  ///< `green`, as a context in `created`
    ContextComplete,        ///< success means that the work of the context of `stream` is complete
    CodeLoaded,             ///< module load: waits for the context in practice
    CodeUnloaded,           ///< module unload: the same, and kernel handles may be reused
    CodeGone,               ///< a context and its modules end: kernel handles may be reused
    CaptureBegins,          ///< on `stream`
    CaptureEnds,            ///< on `stream`, graph in `created`
    GraphCreated,           ///< handle in `created`
    GraphCloned,            ///< `graph`, clone in `created`
    GraphDestroyed,         ///< `graph`
    GraphNodeAdded,    ///< to `graph`, handle in `created`; does `operation`, or what `child` does
    GraphNodeChanged,  ///< `node` of a graph, or of `exec` if it is one's: does that now
    GraphNodeEnabled,  ///< `node` of `exec`: runs from now on only if `enabled`
    GraphNodeDestroyed,  ///< `node`
    GraphInstantiated,   ///< `graph`, handle of the executable in `created`
    GraphUpdated,        ///< `exec` does now what `graph` does
    GraphExecDestroyed,  ///< `exec`
    MemoryNodeCaptured,  ///< on `stream`, if that is captured: `memory`
    ObjectCreated,       ///< an `object` with `accesses`, handle in `created`
    ObjectDestroyed,     ///< the `object` of this `handle`
    ArrayLevelFound,     ///< `level` of the mipmapped array `handle`, its own handle in `created`
    VariableFound,       ///< of the module or library `handle`, address in `created`
    DeviceAddressFound,  ///< of the host memory at `handle`, address in `created`
    CopiesSynchronize,   ///< of the memory at `handle`, if `enabled`
};

/// One call between its entry and its return. Reused from call to call, so that the hot path
/// allocates nothing.
struct Call {
    Effect effect = Effect::None;
    bool blocking = true;
    bool enabled = true;
    bool is_external = false;  ///< EventRecorded, StreamWaitsEvent: becomes a node of its own
    /// Of a node: the events it records or waits for are in `events`, in that order.
    bool waits_for_unknown = false;
    bool owns_child = false;    ///< `child` was moved to it
    bool is_library = false;    ///< `handle` is a CUlibrary, no CUmodule
    bool frees_first = false;   ///< GraphInstantiated: what the last launch has left allocated
    bool loses_stream = false;  ///< `stream` is about to be destroyed or captured
    ObjectKind object = ObjectKind::Texture;
    BlockKind variable = BlockKind::Global;
    unsigned int level = 0;
    const char* api = "";  ///< driver function, a string that lives for ever
    StreamRef stream;
    ContextId green = 0;  ///< a green context, also the one that a stream is created in
    std::array<std::uint64_t, 2> events{};
    const void* created = nullptr;  ///< where the driver stores the handle it creates
    GraphHandle graph{};
    GraphHandle child{};
    NodeHandle node{};
    ExecHandle exec{};  ///< also of a graph's launch
    NodeMemory memory;
    const void* allocated = nullptr;  ///< where the driver stores the address of `memory`
    const void* bodies = nullptr;     ///< where the driver stores the address of its graphs …
    std::uint32_t body_count = 0;     ///< … and how many, if it is a conditional node
    std::uint64_t handle = 0;
    const char* name = nullptr;
    const std::size_t* created_bytes = nullptr;  ///< where the driver stores the variable's size
    /// For Effect::Queue and the nodes of graphs; `accesses` is what `operation.accesses` will
    /// refer to, unless it is the launch of a graph.
    Operation operation;
    std::vector<MemoryAccess> accesses;
    std::vector<StoredAddress> stored;   ///< likewise
    std::vector<ValueOperation> values;  ///< the same for `operation.values`

    /// Kept by whoever tells the tracker, from entry to return; so is `loses_stream`.
    std::array<Clock, 2> reached;
    EventRecord record;  ///< made or waited for
    std::shared_ptr<const GraphLaunch> launch;
    PendingOperation pending;
    std::vector<PendingFree> frees;    ///< by the nodes of a graph that is launched …
    std::vector<Address> allocations;  ///< … and blocks that others of its nodes allocate

    /// The handle that the driver has stored where the program asked for it.
    std::uint64_t created_handle() const {
        std::uint64_t value = 0;
        if (created != nullptr) {
            std::memcpy(&value, created, sizeof value);
        }
        return value;
    }

    /// The graphs that the driver has made for a conditional node.
    std::vector<GraphHandle> owned_graphs() const {
        std::vector<GraphHandle> graphs(body_count);
        const void* array = nullptr;
        if (body_count != 0) {
            std::memcpy(&array, bodies, sizeof array);
            std::memcpy(graphs.data(), array, graphs.size() * sizeof(GraphHandle));
        }
        return graphs;
    }

    /// Makes it a call of `function` on `default_stream` of `context`, with nothing known yet.
    void begin(const char* function, ContextId context, StreamId default_stream) {
        effect = Effect::None;
        api = function;
        stream = {.context = context, .stream = default_stream};
        blocking = true;
        green = 0;
        events = {};
        created = nullptr;
        graph = {};
        child = {};
        node = {};
        exec = {};
        is_external = false;
        frees_first = false;
        waits_for_unknown = false;
        owns_child = false;
        memory = {};
        allocated = nullptr;
        bodies = nullptr;
        body_count = 0;
        handle = 0;
        operation = {};
        accesses.clear();
        stored.clear();
        values.clear();
        loses_stream = false;
        pending.active = false;
    }
};

}  // namespace cuward::cupti
