#include "../handle.hpp"
#include "runtime.hpp"

using simrt::from;

namespace {

// The driver's callback type differs in the type of its error code only, which the runtime's own
// function must not be called through; so it is wrapped.
struct Callback {
    cudaStreamCallback_t function;
    void* userdata;
};

void CUDA_CB run_callback(CUstream stream, CUresult status, void* userdata) {
    auto* callback = static_cast<Callback*>(userdata);
    callback->function(stream, from(status), callback->userdata);
    delete callback;
}

}  // namespace

RT_API(cudaStreamCreate, cudaStream_t*, pStream) {
    return from(d.cuStreamCreate(pStream, CU_STREAM_DEFAULT));
}

RT_API(cudaStreamCreateWithFlags, cudaStream_t*, pStream, unsigned int, flags) {
    return from(d.cuStreamCreate(pStream, flags));
}

RT_API(cudaStreamCreateWithPriority, cudaStream_t*, pStream, unsigned int, flags, int, priority) {
    return from(d.cuStreamCreateWithPriority(pStream, flags, priority));
}

RT_API(cudaStreamDestroy, cudaStream_t, stream) {
    return from(d.cuStreamDestroy(stream));
}

RT_STREAM_API(cudaStreamQuery, _ptsz, cudaStream_t, stream) {
    return from(d.cuStreamQuery(stream));
}

RT_STREAM_API(cudaStreamSynchronize, _ptsz, cudaStream_t, stream) {
    return from(d.cuStreamSynchronize(stream));
}

RT_STREAM_API(cudaStreamWaitEvent, _ptsz, cudaStream_t, stream, cudaEvent_t, event, unsigned int,
              flags) {
    return from(d.cuStreamWaitEvent(stream, event, flags));
}

RT_STREAM_API(cudaStreamGetPriority, _ptsz, cudaStream_t, hStream, int*, priority) {
    return from(d.cuStreamGetPriority(hStream, priority));
}

RT_STREAM_API(cudaStreamGetFlags, _ptsz, cudaStream_t, hStream, unsigned int*, flags) {
    return from(d.cuStreamGetFlags(hStream, flags));
}

RT_STREAM_API(cudaStreamGetId, _ptsz, cudaStream_t, hStream, unsigned long long*, streamId) {
    return from(d.cuStreamGetId(hStream, streamId));
}

RT_STREAM_API(cudaStreamGetDevice, _ptsz, cudaStream_t, hStream, int*, device) {
    return from(d.cuStreamGetDevice(hStream, device));
}

RT_STREAM_API(cudaStreamAttachMemAsync, _ptsz, cudaStream_t, stream, void*, devPtr, size_t, length,
              unsigned int, flags) {
    return from(
        d.cuStreamAttachMemAsync(stream, reinterpret_cast<CUdeviceptr>(devPtr), length, flags));
}

RT_STREAM_API(cudaStreamAddCallback, _ptsz, cudaStream_t, stream, cudaStreamCallback_t, callback,
              void*, userData, unsigned int, flags) {
    SIMRT_REQUIRE(callback != nullptr && flags == 0);
    auto* wrapped = simgpu::new_handle<Callback>(callback, userData);
    const CUresult result = d.cuStreamAddCallback(stream, run_callback, wrapped, 0);
    if (result != CUDA_SUCCESS) {
        delete wrapped;
    }
    return from(result);
}

RT_STREAM_API(cudaLaunchHostFunc, _ptsz, cudaStream_t, stream, cudaHostFn_t, fn, void*, userData) {
    return from(d.cuLaunchHostFunc(stream, fn, userData));
}

RT_API(cudaEventCreate, cudaEvent_t*, event) {
    return from(d.cuEventCreate(event, CU_EVENT_DEFAULT));
}

RT_API(cudaEventCreateWithFlags, cudaEvent_t*, event, unsigned int, flags) {
    return from(d.cuEventCreate(event, flags));
}

RT_STREAM_API(cudaEventRecord, _ptsz, cudaEvent_t, event, cudaStream_t, stream) {
    return from(d.cuEventRecord(event, stream));
}

RT_STREAM_API(cudaEventRecordWithFlags, _ptsz, cudaEvent_t, event, cudaStream_t, stream,
              unsigned int, flags) {
    return from(d.cuEventRecordWithFlags(event, stream, flags));
}

RT_API(cudaEventQuery, cudaEvent_t, event) {
    return from(d.cuEventQuery(event));
}

RT_API(cudaEventSynchronize, cudaEvent_t, event) {
    return from(d.cuEventSynchronize(event));
}

RT_API(cudaEventDestroy, cudaEvent_t, event) {
    return from(d.cuEventDestroy(event));
}

RT_API(cudaEventElapsedTime, float*, ms, cudaEvent_t, start, cudaEvent_t, end) {
    return from(d.cuEventElapsedTime(ms, start, end));
}
