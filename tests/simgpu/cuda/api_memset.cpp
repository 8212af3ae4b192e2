#include "body.hpp"

using namespace simgpu;

namespace {

CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width,
              size_t height, CUstream handle, bool async, const Call& call) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(handle, call.per_thread, stream));
    if (width == 0 || height == 0) {
        return CUDA_SUCCESS;
    }
    const auto allocation = find_allocation(to);
    SIM_REQUIRE(allocation && to % element == 0);
    const size_t row = pitch != 0 ? pitch : width * element;
    SIM_REQUIRE(to + (height - 1) * row + width * element <= end_of_mapped(*allocation));
    if (!async) {
        SIM_TRY(forbid_in_capture(stream->context()));
    }
    MemsetTask task;
    task.shape.dst = to;
    task.shape.pitch = row;
    task.shape.value = value;
    task.shape.elementSize = element;
    task.shape.width = width;
    task.shape.height = height;
    Point point;
    SIM_TRY(submit(*stream, task, call.api.delay_ns, &point));
    // Measured: the host learns of completion only where the memory is its own.
    if (!async && allocation->host() && !wait(point)) {
        return CUDA_ERROR_DEINITIALIZED;
    }
    return CUDA_SUCCESS;
}

}  // namespace

SIM_STREAM_API(cuMemsetD8, _v2, 3020, _ptds, CUdeviceptr, dstDevice, unsigned char, uc, size_t, N) {
    return fill(dstDevice, 0, uc, 1, N, 1, nullptr, false, call);
}

SIM_STREAM_API(cuMemsetD16, _v2, 3020, _ptds, CUdeviceptr, dstDevice, unsigned short, us, size_t,
               N) {
    return fill(dstDevice, 0, us, 2, N, 1, nullptr, false, call);
}

SIM_STREAM_API(cuMemsetD32, _v2, 3020, _ptds, CUdeviceptr, dstDevice, unsigned int, ui, size_t, N) {
    return fill(dstDevice, 0, ui, 4, N, 1, nullptr, false, call);
}

SIM_STREAM_API(cuMemsetD2D8, _v2, 3020, _ptds, CUdeviceptr, dstDevice, size_t, dstPitch,
               unsigned char, uc, size_t, Width, size_t, Height) {
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, nullptr, false, call);
}

SIM_STREAM_API(cuMemsetD2D16, _v2, 3020, _ptds, CUdeviceptr, dstDevice, size_t, dstPitch,
               unsigned short, us, size_t, Width, size_t, Height) {
    return fill(dstDevice, dstPitch, us, 2, Width, Height, nullptr, false, call);
}

SIM_STREAM_API(cuMemsetD2D32, _v2, 3020, _ptds, CUdeviceptr, dstDevice, size_t, dstPitch,
               unsigned int, ui, size_t, Width, size_t, Height) {
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, nullptr, false, call);
}

SIM_STREAM_API(cuMemsetD8Async, , 3020, _ptsz, CUdeviceptr, dstDevice, unsigned char, uc, size_t, N,
               CUstream, hStream) {
    return fill(dstDevice, 0, uc, 1, N, 1, hStream, true, call);
}

SIM_STREAM_API(cuMemsetD16Async, , 3020, _ptsz, CUdeviceptr, dstDevice, unsigned short, us, size_t,
               N, CUstream, hStream) {
    return fill(dstDevice, 0, us, 2, N, 1, hStream, true, call);
}

SIM_STREAM_API(cuMemsetD32Async, , 3020, _ptsz, CUdeviceptr, dstDevice, unsigned int, ui, size_t, N,
               CUstream, hStream) {
    return fill(dstDevice, 0, ui, 4, N, 1, hStream, true, call);
}

SIM_STREAM_API(cuMemsetD2D8Async, , 3020, _ptsz, CUdeviceptr, dstDevice, size_t, dstPitch,
               unsigned char, uc, size_t, Width, size_t, Height, CUstream, hStream) {
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, hStream, true, call);
}

SIM_STREAM_API(cuMemsetD2D16Async, , 3020, _ptsz, CUdeviceptr, dstDevice, size_t, dstPitch,
               unsigned short, us, size_t, Width, size_t, Height, CUstream, hStream) {
    return fill(dstDevice, dstPitch, us, 2, Width, Height, hStream, true, call);
}

SIM_STREAM_API(cuMemsetD2D32Async, , 3020, _ptsz, CUdeviceptr, dstDevice, size_t, dstPitch,
               unsigned int, ui, size_t, Width, size_t, Height, CUstream, hStream) {
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, hStream, true, call);
}
