#include "body.hpp"

using namespace simgpu;

namespace {

constexpr bool sync_form = false;
constexpr bool async_form = true;

CUresult copy(const CUDA_MEMCPY3D& shape, CUstream handle, bool async, const Call& call) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(handle, call.per_thread, stream));
    return submit_copy(*stream, shape, async, call.api.delay_ns);
}

CUDA_MEMCPY3D host_to_device(CUdeviceptr to, const void* from, size_t bytes) {
    return linear_copy(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_HOST,
                       reinterpret_cast<uintptr_t>(from), bytes);
}

CUDA_MEMCPY3D device_to_host(void* to, CUdeviceptr from, size_t bytes) {
    return linear_copy(CU_MEMORYTYPE_HOST, reinterpret_cast<uintptr_t>(to), CU_MEMORYTYPE_DEVICE,
                       from, bytes);
}

CUDA_MEMCPY3D device_to_device(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return linear_copy(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, bytes);
}

CUDA_MEMCPY3D unified(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return linear_copy(CU_MEMORYTYPE_UNIFIED, to, CU_MEMORYTYPE_UNIFIED, from, bytes);
}

// A byte range of an array, rows joined: cuMemcpyAtoH and its like address arrays linearly.
void from_array(CUDA_MEMCPY3D& shape, CUarray array, size_t offset) {
    shape.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    shape.srcArray = array;
    const Array* source = Array::from(array);
    shape.srcXInBytes = offset % source->pitch();
    shape.srcY = offset / source->pitch();
}

void to_array(CUDA_MEMCPY3D& shape, CUarray array, size_t offset) {
    shape.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    shape.dstArray = array;
    const Array* target = Array::from(array);
    shape.dstXInBytes = offset % target->pitch();
    shape.dstY = offset / target->pitch();
}

// Whole rows are copied as rows, so that a linear range may span several of them.
void fold_rows(CUDA_MEMCPY3D& shape, CUarray array) {
    const size_t pitch = Array::from(array)->pitch();
    if (shape.WidthInBytes > pitch && shape.WidthInBytes % pitch == 0) {
        shape.Height = shape.WidthInBytes / pitch;
        shape.WidthInBytes = pitch;
    }
}

CUDA_MEMCPY3D deepened(const CUDA_MEMCPY2D& flat) {
    CUDA_MEMCPY3D shape{};
    shape.srcXInBytes = flat.srcXInBytes;
    shape.srcY = flat.srcY;
    shape.srcMemoryType = flat.srcMemoryType;
    shape.srcHost = flat.srcHost;
    shape.srcDevice = flat.srcDevice;
    shape.srcArray = flat.srcArray;
    shape.srcPitch = flat.srcPitch;
    shape.dstXInBytes = flat.dstXInBytes;
    shape.dstY = flat.dstY;
    shape.dstMemoryType = flat.dstMemoryType;
    shape.dstHost = flat.dstHost;
    shape.dstDevice = flat.dstDevice;
    shape.dstArray = flat.dstArray;
    shape.dstPitch = flat.dstPitch;
    shape.WidthInBytes = flat.WidthInBytes;
    shape.Height = flat.Height;
    shape.Depth = 1;
    return shape;
}

CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER& peer) {
    CUDA_MEMCPY3D shape{};
    shape.srcXInBytes = peer.srcXInBytes;
    shape.srcY = peer.srcY;
    shape.srcZ = peer.srcZ;
    shape.srcMemoryType = peer.srcMemoryType;
    shape.srcHost = peer.srcHost;
    shape.srcDevice = peer.srcDevice;
    shape.srcArray = peer.srcArray;
    shape.srcPitch = peer.srcPitch;
    shape.srcHeight = peer.srcHeight;
    shape.dstXInBytes = peer.dstXInBytes;
    shape.dstY = peer.dstY;
    shape.dstZ = peer.dstZ;
    shape.dstMemoryType = peer.dstMemoryType;
    shape.dstHost = peer.dstHost;
    shape.dstDevice = peer.dstDevice;
    shape.dstArray = peer.dstArray;
    shape.dstPitch = peer.dstPitch;
    shape.dstHeight = peer.dstHeight;
    shape.WidthInBytes = peer.WidthInBytes;
    shape.Height = peer.Height;
    shape.Depth = peer.Depth;
    return shape;
}

}  // namespace

SIM_STREAM_API(cuMemcpy, , 4000, _ptds, CUdeviceptr, dst, CUdeviceptr, src, size_t, ByteCount) {
    return copy(unified(dst, src, ByteCount), nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpyAsync, , 4000, _ptsz, CUdeviceptr, dst, CUdeviceptr, src, size_t, ByteCount,
               CUstream, hStream) {
    return copy(unified(dst, src, ByteCount), hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpyHtoD, _v2, 3020, _ptds, CUdeviceptr, dstDevice, const void*, srcHost, size_t,
               ByteCount) {
    return copy(host_to_device(dstDevice, srcHost, ByteCount), nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpyHtoDAsync, _v2, 3020, _ptsz, CUdeviceptr, dstDevice, const void*, srcHost,
               size_t, ByteCount, CUstream, hStream) {
    return copy(host_to_device(dstDevice, srcHost, ByteCount), hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpyDtoH, _v2, 3020, _ptds, void*, dstHost, CUdeviceptr, srcDevice, size_t,
               ByteCount) {
    return copy(device_to_host(dstHost, srcDevice, ByteCount), nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpyDtoHAsync, _v2, 3020, _ptsz, void*, dstHost, CUdeviceptr, srcDevice, size_t,
               ByteCount, CUstream, hStream) {
    return copy(device_to_host(dstHost, srcDevice, ByteCount), hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpyDtoD, _v2, 3020, _ptds, CUdeviceptr, dstDevice, CUdeviceptr, srcDevice,
               size_t, ByteCount) {
    return copy(device_to_device(dstDevice, srcDevice, ByteCount), nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpyDtoDAsync, _v2, 3020, _ptsz, CUdeviceptr, dstDevice, CUdeviceptr, srcDevice,
               size_t, ByteCount, CUstream, hStream) {
    return copy(device_to_device(dstDevice, srcDevice, ByteCount), hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpyPeer, , 4000, _ptds, CUdeviceptr, dstDevice, CUcontext, dstContext,
               CUdeviceptr, srcDevice, CUcontext, srcContext, size_t, ByteCount) {
    return copy(device_to_device(dstDevice, srcDevice, ByteCount), nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpyPeerAsync, , 4000, _ptsz, CUdeviceptr, dstDevice, CUcontext, dstContext,
               CUdeviceptr, srcDevice, CUcontext, srcContext, size_t, ByteCount, CUstream,
               hStream) {
    return copy(device_to_device(dstDevice, srcDevice, ByteCount), hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpyHtoA, _v2, 3020, _ptds, CUarray, dstArray, size_t, dstOffset, const void*,
               srcHost, size_t, ByteCount) {
    SIM_REQUIRE(dstArray != nullptr);
    CUDA_MEMCPY3D shape = host_to_device(0, srcHost, ByteCount);
    to_array(shape, dstArray, dstOffset);
    fold_rows(shape, dstArray);
    return copy(shape, nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpyHtoAAsync, _v2, 3020, _ptsz, CUarray, dstArray, size_t, dstOffset,
               const void*, srcHost, size_t, ByteCount, CUstream, hStream) {
    SIM_REQUIRE(dstArray != nullptr);
    CUDA_MEMCPY3D shape = host_to_device(0, srcHost, ByteCount);
    to_array(shape, dstArray, dstOffset);
    fold_rows(shape, dstArray);
    return copy(shape, hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpyAtoH, _v2, 3020, _ptds, void*, dstHost, CUarray, srcArray, size_t, srcOffset,
               size_t, ByteCount) {
    SIM_REQUIRE(srcArray != nullptr);
    CUDA_MEMCPY3D shape = device_to_host(dstHost, 0, ByteCount);
    from_array(shape, srcArray, srcOffset);
    fold_rows(shape, srcArray);
    return copy(shape, nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpyAtoHAsync, _v2, 3020, _ptsz, void*, dstHost, CUarray, srcArray, size_t,
               srcOffset, size_t, ByteCount, CUstream, hStream) {
    SIM_REQUIRE(srcArray != nullptr);
    CUDA_MEMCPY3D shape = device_to_host(dstHost, 0, ByteCount);
    from_array(shape, srcArray, srcOffset);
    fold_rows(shape, srcArray);
    return copy(shape, hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpyDtoA, _v2, 3020, _ptds, CUarray, dstArray, size_t, dstOffset, CUdeviceptr,
               srcDevice, size_t, ByteCount) {
    SIM_REQUIRE(dstArray != nullptr);
    CUDA_MEMCPY3D shape = device_to_device(0, srcDevice, ByteCount);
    to_array(shape, dstArray, dstOffset);
    fold_rows(shape, dstArray);
    return copy(shape, nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpyAtoD, _v2, 3020, _ptds, CUdeviceptr, dstDevice, CUarray, srcArray, size_t,
               srcOffset, size_t, ByteCount) {
    SIM_REQUIRE(srcArray != nullptr);
    CUDA_MEMCPY3D shape = device_to_device(dstDevice, 0, ByteCount);
    from_array(shape, srcArray, srcOffset);
    fold_rows(shape, srcArray);
    return copy(shape, nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpyAtoA, _v2, 3020, _ptds, CUarray, dstArray, size_t, dstOffset, CUarray,
               srcArray, size_t, srcOffset, size_t, ByteCount) {
    SIM_REQUIRE(dstArray != nullptr && srcArray != nullptr);
    CUDA_MEMCPY3D shape = device_to_device(0, 0, ByteCount);
    from_array(shape, srcArray, srcOffset);
    to_array(shape, dstArray, dstOffset);
    fold_rows(shape, srcArray);
    return copy(shape, nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpy2D, _v2, 3020, _ptds, const CUDA_MEMCPY2D*, pCopy) {
    SIM_REQUIRE(pCopy != nullptr);
    return copy(deepened(*pCopy), nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpy2DUnaligned, _v2, 3020, _ptds, const CUDA_MEMCPY2D*, pCopy) {
    SIM_REQUIRE(pCopy != nullptr);
    return copy(deepened(*pCopy), nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpy2DAsync, _v2, 3020, _ptsz, const CUDA_MEMCPY2D*, pCopy, CUstream, hStream) {
    SIM_REQUIRE(pCopy != nullptr);
    return copy(deepened(*pCopy), hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpy3D, _v2, 3020, _ptds, const CUDA_MEMCPY3D*, pCopy) {
    SIM_REQUIRE(pCopy != nullptr);
    return copy(*pCopy, nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpy3DAsync, _v2, 3020, _ptsz, const CUDA_MEMCPY3D*, pCopy, CUstream, hStream) {
    SIM_REQUIRE(pCopy != nullptr);
    return copy(*pCopy, hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpy3DPeer, , 4000, _ptds, const CUDA_MEMCPY3D_PEER*, pCopy) {
    SIM_REQUIRE(pCopy != nullptr);
    return copy(without_contexts(*pCopy), nullptr, sync_form, call);
}

SIM_STREAM_API(cuMemcpy3DPeerAsync, , 4000, _ptsz, const CUDA_MEMCPY3D_PEER*, pCopy, CUstream,
               hStream) {
    SIM_REQUIRE(pCopy != nullptr);
    return copy(without_contexts(*pCopy), hStream, async_form, call);
}

SIM_STREAM_API(cuMemcpyBatchAsync, _v2, 13000, _ptsz, CUdeviceptr*, dsts, CUdeviceptr*, srcs,
               size_t*, sizes, size_t, count, CUmemcpyAttributes*, attrs, size_t*, attrsIdxs,
               size_t, numAttrs, CUstream, hStream) {
    SIM_REQUIRE(dsts != nullptr && srcs != nullptr && sizes != nullptr && count != 0);
    // The copies of a batch have no order among them; one after the other is one allowed order.
    for (size_t index = 0; index < count; ++index) {
        SIM_TRY(copy(unified(dsts[index], srcs[index], sizes[index]), hStream, async_form, call));
    }
    return CUDA_SUCCESS;
}
