#include "body.hpp"

using namespace simgpu;

namespace {

CUresult require_event(CUevent handle, Event*& event) {
    event = Event::from(handle);
    return event != nullptr && event->alive() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult record(CUevent handle, CUstream stream_handle, unsigned flags, const Call& call) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(stream_handle, call.per_thread, stream));
    Event* event = nullptr;
    SIM_TRY(require_event(handle, event));
    // Programming guide, multi-device: recording is for events of the stream's own device.
    if (event->context().device() != stream->context().device()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (stream->capture != nullptr) {
        return (flags & CU_EVENT_RECORD_EXTERNAL) != 0 ? submit(*stream, EventRecordTask{event}, 0)
                                                       : captured_record(*stream, *event);
    }
    SIM_TRY(check_legacy_capture(*stream));
    event->record(*stream, call.api.delay_ns);
    return CUDA_SUCCESS;
}

CUresult elapsed(float* milliseconds, CUevent start_handle, CUevent end_handle) {
    SIM_REQUIRE(milliseconds != nullptr);
    Event* start = nullptr;
    Event* end = nullptr;
    SIM_TRY(require_event(start_handle, start));
    SIM_TRY(require_event(end_handle, end));
    if (!start->timed() || !end->timed() || start->stamp() == nullptr || end->stamp() == nullptr) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!start->point().reached() || !end->point().reached()) {
        return CUDA_ERROR_NOT_READY;
    }
    const auto from = static_cast<double>(start->stamp()->ns.load(std::memory_order_acquire));
    const auto to = static_cast<double>(end->stamp()->ns.load(std::memory_order_acquire));
    *milliseconds = static_cast<float>((to - from) / 1e6);
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API(cuEventCreate, , 2000, CUevent*, phEvent, unsigned int, Flags) {
    SIM_REQUIRE(phEvent != nullptr);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    *phEvent = Event::create(*context, Flags)->handle();
    return CUDA_SUCCESS;
}

SIM_API(cuEventDestroy, _v2, 4000, CUevent, hEvent) {
    Event* event = nullptr;
    SIM_TRY(require_event(hEvent, event));
    event->destroy();
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuEventRecord, , 2000, _ptsz, CUevent, hEvent, CUstream, hStream) {
    return record(hEvent, hStream, 0, call);
}

SIM_STREAM_API(cuEventRecordWithFlags, , 11010, _ptsz, CUevent, hEvent, CUstream, hStream,
               unsigned int, flags) {
    return record(hEvent, hStream, flags, call);
}

SIM_API(cuEventQuery, , 2000, CUevent, hEvent) {
    Event* event = nullptr;
    SIM_TRY(require_event(hEvent, event));
    SIM_TRY(event_captured(*event) ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS);
    SIM_TRY(forbid_in_capture(event->context()));
    return event->point().reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

SIM_API(cuEventSynchronize, , 2000, CUevent, hEvent) {
    Event* event = nullptr;
    SIM_TRY(require_event(hEvent, event));
    SIM_TRY(event_captured(*event) ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS);
    SIM_TRY(forbid_in_capture(event->context()));
    if (!wait(event->point())) {
        return CUDA_ERROR_DEINITIALIZED;
    }
    trim_pools_at_sync(event->context().device());
    return CUDA_SUCCESS;
}

SIM_API(cuEventElapsedTime, , 2000, float*, pMilliseconds, CUevent, hStart, CUevent, hEnd) {
    return elapsed(pMilliseconds, hStart, hEnd);
}

SIM_API(cuEventElapsedTime, _v2, 12080, float*, pMilliseconds, CUevent, hStart, CUevent, hEnd) {
    return elapsed(pMilliseconds, hStart, hEnd);
}

SIM_API(cuCtxRecordEvent, , 12050, CUcontext, hCtx, CUevent, hEvent) {
    Context* context = Context::from(hCtx);
    SIM_REQUIRE(context != nullptr && context->alive());
    Event* event = nullptr;
    SIM_TRY(require_event(hEvent, event));
    SIM_TRY(&event->context() == context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
    SIM_TRY(forbid_in_capture(*context));
    Operation all;
    all.after = context->everything();
    Stream* gathers = Stream::create(*context, StreamKind::NonBlocking, 0);
    gathers->issue(std::move(all));
    event->record(*gathers, call.api.delay_ns);
    gathers->destroy();
    return CUDA_SUCCESS;
}

SIM_API(cuCtxWaitEvent, , 12050, CUcontext, hCtx, CUevent, hEvent) {
    Context* context = Context::from(hCtx);
    SIM_REQUIRE(context != nullptr && context->alive());
    Event* event = nullptr;
    SIM_TRY(require_event(hEvent, event));
    SIM_TRY(forbid_in_capture(*context));
    context->await(event->point());
    return CUDA_SUCCESS;
}
