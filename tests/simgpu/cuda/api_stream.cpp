#include "body.hpp"
#include "callbacks.hpp"

using namespace simgpu;

namespace {

CUresult create_stream(CUstream* out, unsigned flags, int priority) {
    SIM_REQUIRE(out != nullptr && (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) == 0);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    const StreamKind kind =
        (flags & CU_STREAM_NON_BLOCKING) != 0 ? StreamKind::NonBlocking : StreamKind::Blocking;
    Stream* stream = Stream::create(*context, kind, std::min(0, std::max(-5, priority)));
    *out = stream->handle();
    notify_resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, context->handle(), stream->handle(),
                    nullptr);
    return CUDA_SUCCESS;
}

CUresult value_operation(CUstream handle, const ValueTask& task, const Call& call) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(handle, call.per_thread, stream));
    SIM_REQUIRE(find_allocation(task.address) && task.address % (task.wide ? 8 : 4) == 0);
    return submit(*stream, task, call.api.delay_ns);
}

}  // namespace

SIM_API(cuStreamCreate, , 2000, CUstream*, phStream, unsigned int, Flags) {
    return create_stream(phStream, Flags, 0);
}

SIM_API(cuStreamCreateWithPriority, , 5050, CUstream*, phStream, unsigned int, flags, int,
        priority) {
    return create_stream(phStream, flags, priority);
}

SIM_API(cuStreamDestroy, _v2, 4000, CUstream, hStream) {
    Stream* stream = nullptr;
    if (hStream == nullptr || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    SIM_TRY(resolve_stream(hStream, false, stream));
    notify_resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, stream->context().handle(),
                    hStream, nullptr);
    stream->destroy();
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamQuery, , 2000, _ptsz, CUstream, hStream) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    SIM_TRY(forbid_on_stream(*stream));
    return stream->ready() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

SIM_STREAM_API(cuStreamSynchronize, , 2000, _ptsz, CUstream, hStream) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    SIM_TRY(forbid_on_stream(*stream));
    if (stream->kind() == StreamKind::Legacy) {
        for (const Point& point : stream->context().blocking_work()) {
            SIM_TRY(wait(point) ? CUDA_SUCCESS : CUDA_ERROR_DEINITIALIZED);
        }
    } else if (!stream->wait_for(stream->issued())) {
        return CUDA_ERROR_DEINITIALIZED;
    }
    trim_pools_at_sync(stream->context().device());
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamWaitEvent, , 3020, _ptsz, CUstream, hStream, CUevent, hEvent, unsigned int,
               Flags) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    Event* event = Event::from(hEvent);
    if (event == nullptr || !event->alive()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (event_captured(*event) || (stream->capture != nullptr && Flags == 0)) {
        return captured_wait(*stream, *event);
    }
    if (stream->capture != nullptr) {
        return submit(*stream, EventWaitTask{event}, 0);  // CU_EVENT_WAIT_EXTERNAL
    }
    SIM_TRY(check_legacy_capture(*stream));
    Operation operation;
    operation.duration_ns = call.api.delay_ns;
    const Point point = event->point();
    if (!point.reached()) {
        operation.after.push_back(point);
    }
    stream->issue(std::move(operation));
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamGetPriority, , 5050, _ptsz, CUstream, hStream, int*, priority) {
    SIM_REQUIRE(priority != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    *priority = stream->priority();
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamGetFlags, , 5050, _ptsz, CUstream, hStream, unsigned int*, flags) {
    SIM_REQUIRE(flags != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    *flags = stream->kind() == StreamKind::NonBlocking ? CU_STREAM_NON_BLOCKING : 0;
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamGetId, , 12000, _ptsz, CUstream, hStream, unsigned long long*, streamId) {
    SIM_REQUIRE(streamId != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    *streamId = stream->id();
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamGetCtx, , 9020, _ptsz, CUstream, hStream, CUcontext*, pctx) {
    SIM_REQUIRE(pctx != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    *pctx = stream->context().handle();
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamGetCtx, _v2, 12050, _ptsz, CUstream, hStream, CUcontext*, pCtx, CUgreenCtx*,
               pGreenCtx) {
    SIM_REQUIRE(pCtx != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    *pCtx = stream->context().handle();
    if (pGreenCtx != nullptr) {
        *pGreenCtx = nullptr;
    }
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamGetDevice, , 12080, _ptsz, CUstream, hStream, CUdevice*, device) {
    SIM_REQUIRE(device != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    *device = stream->context().device();
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamAddCallback, , 5000, _ptsz, CUstream, hStream, CUstreamCallback, callback,
               void*, userData, unsigned int, flags) {
    SIM_REQUIRE(callback != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    SIM_TRY(forbid_on_stream(*stream));
    HostTask task;
    task.callback = callback;
    task.stream = hStream;
    task.userdata = userData;
    return submit(*stream, task, call.api.delay_ns);
}

SIM_STREAM_API(cuLaunchHostFunc, , 10000, _ptsz, CUstream, hStream, CUhostFn, fn, void*, userData) {
    SIM_REQUIRE(fn != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    HostTask task;
    task.function = fn;
    task.userdata = userData;
    return submit(*stream, task, call.api.delay_ns);
}

SIM_STREAM_API(cuStreamWriteValue32, _v2, 11070, _ptsz, CUstream, stream, CUdeviceptr, addr,
               cuuint32_t, value, unsigned int, flags) {
    return value_operation(stream, {addr, value, flags, false, false}, call);
}

SIM_STREAM_API(cuStreamWriteValue64, _v2, 11070, _ptsz, CUstream, stream, CUdeviceptr, addr,
               cuuint64_t, value, unsigned int, flags) {
    return value_operation(stream, {addr, value, flags, true, false}, call);
}

SIM_STREAM_API(cuStreamWaitValue32, _v2, 11070, _ptsz, CUstream, stream, CUdeviceptr, addr,
               cuuint32_t, value, unsigned int, flags) {
    return value_operation(stream, {addr, value, flags, false, true}, call);
}

SIM_STREAM_API(cuStreamWaitValue64, _v2, 11070, _ptsz, CUstream, stream, CUdeviceptr, addr,
               cuuint64_t, value, unsigned int, flags) {
    return value_operation(stream, {addr, value, flags, true, true}, call);
}

SIM_STREAM_API(cuStreamBatchMemOp, _v2, 11070, _ptsz, CUstream, stream, unsigned int, count,
               CUstreamBatchMemOpParams*, paramArray, unsigned int, flags) {
    SIM_REQUIRE(paramArray != nullptr && count != 0);
    BatchTask batch;
    SIM_TRY(batch.take(paramArray, count));
    for (const ValueTask& value : batch.values) {
        SIM_TRY(value_operation(stream, value, call));
    }
    return CUDA_SUCCESS;
}
