#include "cupti/watch.hpp"

#include <string_view>

namespace cuward::cupti {
namespace {

/// After these the capture goes on (cuStreamEndCapture).
bool capture_goes_on(int result) {
    return result == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD ||
           result == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
}

}  // namespace

Watch::Watch(Session& session, const DriverQueries& driver)
    : session_(session),
      tracker_(session.tracker()),
      driver_(driver),
      graphs_(session, driver),
      blocks_(session.tracker()),
      kernels_(
          driver, [&session](std::string_view name) { return session.log().kernel(name); },
          [&session](std::string_view text) { session.log().note(text); }),
      decoder_(blocks_, objects_, kernels_) {}

void Watch::enter(const DriverCall& driver_call, Call& call) {
    decoder_.decode(driver_call, call);
    switch (call.effect) {
        case Effect::Queue:
            begin_operation(call);
            break;
        // Handles may be given out again before the call that ends them returns.
        case Effect::StreamDestroyed:
            session_.order().before_loss(call.stream);
            tracker_.stream_destroyed(call.stream);
            break;
        case Effect::EventDestroyed:
            tracker_.event_destroyed(call.events[0]);
            break;
        case Effect::ObjectDestroyed:
            objects_.remove(call.object, call.stream.context, call.handle);
            break;
        case Effect::GraphDestroyed:
        case Effect::GraphNodeDestroyed:
        case Effect::GraphExecDestroyed:
            graphs_.destroyed(call);
            break;
        case Effect::CodeGone:
            kernels_.forget_handles();
            objects_.forget_context(call.stream.context);
            break;
        case Effect::CodeUnloaded:
            kernels_.forget_handles();
            tracker_.code_unloading(call.handle, session_.site(call.api));
            [[fallthrough]];
        // What a call waits for is the work queued before it.
        case Effect::CodeLoaded:
        case Effect::ContextComplete:
        case Effect::ContextRecorded:
            call.reached[0] = tracker_.work_of_context(call.stream.context);
            break;
        case Effect::StreamComplete:
            meet_stream(call);
            call.reached[0] = tracker_.work_of_stream(call.stream);
            break;
        case Effect::EventsComplete:
            for (std::size_t i = 0; i < call.events.size() && call.events[i] != 0; ++i) {
                call.reached[i] = tracker_.work_of_event(call.events[i]);
            }
            break;
        case Effect::StreamWaitsEvent:
            meet_stream(call);
            tracker_.begin_wait(call.stream, call.events[0], call.record);
            if (!call.is_external && tracker_.captures_waiters(call.events[0])) {
                before_capture(call);
            }
            break;
        case Effect::CaptureBegins:
            meet_stream(call);
            before_capture(call);
            break;
        case Effect::EventRecorded:
            meet_stream(call);
            tracker_.begin_record(call.stream, call.record);
            break;
        case Effect::ContextWaitsEvent:
            call.reached[0] = tracker_.work_of_event(call.events[0]);
            break;
        default:
            break;
    }
}

void Watch::begin_operation(Call& call) {
    meet_stream(call);
    Operation& operation = call.operation;
    operation.api = call.api;
    operation.stream = call.stream;
    operation.accesses = call.accesses;
    operation.stored = call.stored;
    operation.values = call.values;
    if (operation.kind == OperationKind::Graph) {
        graphs_.launched(call);
    }
    if (!operation.accesses.empty()) {
        // Only a place that a finding may name is worth a stack.
        const CallSite site = session_.site(call.api);
        operation.stack = site.stack;
        operation.thread = site.thread;
    }
    session_.begin(operation, call.pending);
    if (operation.kind == OperationKind::Graph && call.pending.active) {
        graphs_.launch_begun(call);
    }
}

void Watch::before_capture(Call& call) {
    session_.order().before_loss(call.stream);
    call.loses_stream = true;
}

/// A stream made before the tool came, or by a call it does not know, tells its kind itself.
void Watch::meet_stream(const Call& call) {
    const StreamId stream = call.stream.stream;
    if (stream == kLegacyStream || stream == kPerThreadStream ||
        tracker_.knows_stream(call.stream) || driver_.stream_flags == nullptr) {
        return;
    }
    unsigned int flags = 0;
    const auto handle = reinterpret_cast<CUstream>(static_cast<std::uint64_t>(stream));
    if (driver_.stream_flags(handle, &flags) == CUDA_SUCCESS) {
        tracker_.stream_created(call.stream, (flags & CU_STREAM_NON_BLOCKING) == 0,
                                session_.site(call.api));
    }
}

void Watch::leave(Call& call, int result) {
    if (call.effect == Effect::Queue) {
        operation_queued(call, result == CUDA_SUCCESS);
    } else if (call.effect == Effect::CaptureEnds) {
        if (!capture_goes_on(result)) {
            graphs_.capture_ended(call, tracker_.capture_ended(call.stream),
                                  result == CUDA_SUCCESS);
        }
    } else if (result == CUDA_SUCCESS) {
        succeeded(call);
    }
    if (call.loses_stream) {
        session_.order().after_loss(call.stream);
    }
    call.effect = Effect::None;
}

void Watch::operation_queued(Call& call, bool succeeded) {
    const bool is_launch = call.pending.active && call.exec != ExecHandle{};
    session_.end(call.pending, succeeded);
    if (is_launch) {
        graphs_.launch_returned(call, succeeded);
    } else if (call.pending.capture != 0 && succeeded) {
        if (!call.values.empty()) {
            call.accesses.clear();  // of a node they are its order, not its use of memory
        }
        graphs_.captured(call.pending.capture, call);
    }
}

/// An event or memory that a capture makes a node of: nothing happens now.
bool Watch::becomes_node(Call& call) {
    const bool may_be = call.is_external || call.effect == Effect::MemoryNodeCaptured;
    const std::uint32_t capture = may_be ? tracker_.capture(call.stream) : 0;
    if (capture != 0) {
        graphs_.captured(capture, call);
    }
    return capture != 0;
}

void Watch::succeeded(Call& call) {
    if (becomes_node(call)) {
        return;
    }
    switch (call.effect) {
        case Effect::StreamCreated:
            stream_created(call);
            break;
        case Effect::EventCreated:
            tracker_.event_created(call.created_handle());
            break;
        case Effect::EventRecorded:
            tracker_.event_recorded(call.events[0], call.stream, call.record);
            break;
        case Effect::EventShared:
            tracker_.event_shared(call.created != nullptr ? call.created_handle() : call.events[0]);
            break;
        case Effect::StreamWaitsEvent:
            tracker_.stream_waits(call.stream, call.record);
            break;
        case Effect::ContextRecorded:
            tracker_.context_recorded(call.events[0], call.reached[0]);
            break;
        case Effect::ContextWaitsEvent:
            tracker_.context_waits(call.stream.context, call.reached[0]);
            break;
        case Effect::GreenContextCreated:
            tracker_.green_context_created(call.created_handle(), call.stream.context);
            break;
        case Effect::GreenContextConverted:
            tracker_.green_context_converted(call.green, call.created_handle());
            break;
        case Effect::StreamComplete:
        case Effect::ContextComplete:
            tracker_.host_knows(call.reached[0], Edge::Documented);
            session_.synchronized();
            break;
        case Effect::EventsComplete:
            for (std::size_t i = 0; i < call.events.size() && call.events[i] != 0; ++i) {
                tracker_.host_knows(call.reached[i], Edge::Documented);
            }
            break;
        case Effect::CodeLoaded:
        case Effect::CodeUnloaded:
            // Measured: a module load or unload waits for everything in its context.
            tracker_.host_knows(call.reached[0], Edge::Implicit);
            break;
        case Effect::CaptureBegins:
            tracker_.capture_began(call.stream);
            break;
        case Effect::ObjectCreated:
            if (!call.accesses.empty()) {
                objects_.add(call.object, call.stream.context, call.created_handle(),
                             call.accesses.front());
            }
            break;
        case Effect::ArrayLevelFound:
            tracker_.array_level(call.created_handle(), call.handle, call.level);
            break;
        case Effect::VariableFound:
            variable_found(call);
            break;
        case Effect::DeviceAddressFound:
            tracker_.has_device_address(call.handle, call.created_handle());
            break;
        case Effect::CopiesSynchronize:
            tracker_.set_always_synchronizes(call.handle, call.enabled);
            break;
        default:
            graphs_.succeeded(call);
            break;
    }
}

/// Either of address and size may not have been asked for (cuModuleGetGlobal).
void Watch::variable_found(const Call& call) {
    CUdeviceptr address = call.created_handle();
    std::size_t bytes = call.created_bytes != nullptr ? *call.created_bytes : 0;
    if (call.created == nullptr || call.created_bytes == nullptr) {
        CUresult result = CUDA_ERROR_NOT_FOUND;
        if (call.is_library && driver_.library_global != nullptr) {
            result = driver_.library_global(&address, &bytes,
                                            reinterpret_cast<CUlibrary>(call.handle), call.name);
        } else if (!call.is_library && driver_.module_global != nullptr) {
            result = driver_.module_global(&address, &bytes,
                                           reinterpret_cast<CUmodule>(call.handle), call.name);
        }
        if (result != CUDA_SUCCESS) {
            return;
        }
    }
    Allocation variable;
    variable.kind = call.variable;
    variable.ptr = address;
    variable.bytes = bytes;
    variable.owner = call.handle;
    variable.context = call.stream.context;
    variable.site = session_.site(call.api);
    tracker_.variable_found(variable);
}

void Watch::stream_created(const Call& call) {
    const StreamRef stream{.context = call.stream.context,
                           .stream = StreamId{call.created_handle()}};
    tracker_.stream_created(stream, call.blocking, session_.site(call.api), call.green);
}

}  // namespace cuward::cupti
