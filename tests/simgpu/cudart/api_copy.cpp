#include <algorithm>
#include <vector>

#include "convert.hpp"
#include "registry.hpp"
#include "runtime.hpp"

using simrt::from;

namespace {

CUdeviceptr device(const void* pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

cudaError_t copy(const simrt::Driver& d, void* to, const void* source, size_t bytes,
                 cudaMemcpyKind kind) {
    if (bytes == 0) {
        return cudaSuccess;
    }
    switch (kind) {
        case cudaMemcpyHostToDevice:
            return from(d.cuMemcpyHtoD(device(to), source, bytes));
        case cudaMemcpyDeviceToHost:
            return from(d.cuMemcpyDtoH(to, device(source), bytes));
        case cudaMemcpyDeviceToDevice:
            return from(d.cuMemcpyDtoD(device(to), device(source), bytes));
        case cudaMemcpyHostToHost:
        case cudaMemcpyDefault:
            return from(d.cuMemcpy(device(to), device(source), bytes));
        default:
            return cudaErrorInvalidMemcpyDirection;
    }
}

cudaError_t copy_async(const simrt::Driver& d, void* to, const void* source, size_t bytes,
                       cudaMemcpyKind kind, cudaStream_t stream) {
    if (bytes == 0) {
        return cudaSuccess;
    }
    switch (kind) {
        case cudaMemcpyHostToDevice:
            return from(d.cuMemcpyHtoDAsync(device(to), source, bytes, stream));
        case cudaMemcpyDeviceToHost:
            return from(d.cuMemcpyDtoHAsync(to, device(source), bytes, stream));
        case cudaMemcpyDeviceToDevice:
            return from(d.cuMemcpyDtoDAsync(device(to), device(source), bytes, stream));
        case cudaMemcpyHostToHost:
        case cudaMemcpyDefault:
            return from(d.cuMemcpyAsync(device(to), device(source), bytes, stream));
        default:
            return cudaErrorInvalidMemcpyDirection;
    }
}

cudaError_t symbol_range(const simrt::Driver& d, const void* symbol, size_t offset, size_t count,
                         void*& address) {
    simrt::Symbol found;
    SIMRT_TRY(simrt::symbol_of(d, symbol, found));
    SIMRT_REQUIRE(offset <= found.size && count <= found.size - offset);
    address = reinterpret_cast<void*>(found.address + offset);
    return cudaSuccess;
}

cudaError_t fill_rows(const simrt::Driver& d, const cudaPitchedPtr& to, int value,
                      const cudaExtent& extent, bool async, cudaStream_t stream) {
    // Slices follow one another without a gap, so the volume is one tall plane when the extent
    // covers whole slices, and one call per slice otherwise.
    for (size_t z = 0; z < extent.depth; ++z) {
        const CUdeviceptr slice = device(to.ptr) + z * to.pitch * to.ysize;
        const auto byte = static_cast<unsigned char>(value);
        SIMRT_TRY(from(
            async ? d.cuMemsetD2D8Async(slice, to.pitch, byte, extent.width, extent.height, stream)
                  : d.cuMemsetD2D8(slice, to.pitch, byte, extent.width, extent.height)));
    }
    return cudaSuccess;
}

}  // namespace

RT_STREAM_API(cudaMemcpy, _ptds, void*, dst, const void*, src, size_t, count, enum cudaMemcpyKind,
              kind) {
    return copy(d, dst, src, count, kind);
}

RT_STREAM_API(cudaMemcpyAsync, _ptsz, void*, dst, const void*, src, size_t, count,
              enum cudaMemcpyKind, kind, cudaStream_t, stream) {
    return copy_async(d, dst, src, count, kind, stream);
}

RT_STREAM_API(cudaMemcpyToSymbol, _ptds, const void*, symbol, const void*, src, size_t, count,
              size_t, offset, enum cudaMemcpyKind, kind) {
    void* address = nullptr;
    SIMRT_TRY(symbol_range(d, symbol, offset, count, address));
    return copy(d, address, src, count, kind);
}

RT_STREAM_API(cudaMemcpyToSymbolAsync, _ptsz, const void*, symbol, const void*, src, size_t, count,
              size_t, offset, enum cudaMemcpyKind, kind, cudaStream_t, stream) {
    void* address = nullptr;
    SIMRT_TRY(symbol_range(d, symbol, offset, count, address));
    return copy_async(d, address, src, count, kind, stream);
}

RT_STREAM_API(cudaMemcpyFromSymbol, _ptds, void*, dst, const void*, symbol, size_t, count, size_t,
              offset, enum cudaMemcpyKind, kind) {
    void* address = nullptr;
    SIMRT_TRY(symbol_range(d, symbol, offset, count, address));
    return copy(d, dst, address, count, kind);
}

RT_STREAM_API(cudaMemcpyFromSymbolAsync, _ptsz, void*, dst, const void*, symbol, size_t, count,
              size_t, offset, enum cudaMemcpyKind, kind, cudaStream_t, stream) {
    void* address = nullptr;
    SIMRT_TRY(symbol_range(d, symbol, offset, count, address));
    return copy_async(d, dst, address, count, kind, stream);
}

RT_API(cudaMemcpyPeer, void*, dst, int, dstDevice, const void*, src, int, srcDevice, size_t,
       count) {
    CUcontext to = nullptr;
    CUcontext source = nullptr;
    SIMRT_TRY(from(d.cuDevicePrimaryCtxRetain(&to, dstDevice)));
    SIMRT_TRY(from(d.cuDevicePrimaryCtxRetain(&source, srcDevice)));
    return from(d.cuMemcpyPeer(device(dst), to, device(src), source, count));
}

RT_API(cudaMemcpyPeerAsync, void*, dst, int, dstDevice, const void*, src, int, srcDevice, size_t,
       count, cudaStream_t, stream) {
    CUcontext to = nullptr;
    CUcontext source = nullptr;
    SIMRT_TRY(from(d.cuDevicePrimaryCtxRetain(&to, dstDevice)));
    SIMRT_TRY(from(d.cuDevicePrimaryCtxRetain(&source, srcDevice)));
    return from(d.cuMemcpyPeerAsync(device(dst), to, device(src), source, count, stream));
}

RT_STREAM_API(cudaMemcpy2D, _ptds, void*, dst, size_t, dpitch, const void*, src, size_t, spitch,
              size_t, width, size_t, height, enum cudaMemcpyKind, kind) {
    const CUDA_MEMCPY2D shape = simrt::flat_copy(dst, dpitch, src, spitch, width, height, kind);
    return from(d.cuMemcpy2DUnaligned(&shape));
}

RT_STREAM_API(cudaMemcpy2DAsync, _ptsz, void*, dst, size_t, dpitch, const void*, src, size_t,
              spitch, size_t, width, size_t, height, enum cudaMemcpyKind, kind, cudaStream_t,
              stream) {
    const CUDA_MEMCPY2D shape = simrt::flat_copy(dst, dpitch, src, spitch, width, height, kind);
    return from(d.cuMemcpy2DAsync(&shape, stream));
}

RT_STREAM_API(cudaMemcpy2DToArray, _ptds, cudaArray_t, dst, size_t, wOffset, size_t, hOffset,
              const void*, src, size_t, spitch, size_t, width, size_t, height, enum cudaMemcpyKind,
              kind) {
    CUDA_MEMCPY2D shape = simrt::flat_copy(nullptr, 0, src, spitch, width, height, kind);
    simrt::to_array(shape, dst, wOffset, hOffset);
    return from(d.cuMemcpy2DUnaligned(&shape));
}

RT_STREAM_API(cudaMemcpy2DToArrayAsync, _ptsz, cudaArray_t, dst, size_t, wOffset, size_t, hOffset,
              const void*, src, size_t, spitch, size_t, width, size_t, height, enum cudaMemcpyKind,
              kind, cudaStream_t, stream) {
    CUDA_MEMCPY2D shape = simrt::flat_copy(nullptr, 0, src, spitch, width, height, kind);
    simrt::to_array(shape, dst, wOffset, hOffset);
    return from(d.cuMemcpy2DAsync(&shape, stream));
}

RT_STREAM_API(cudaMemcpy2DFromArray, _ptds, void*, dst, size_t, dpitch, cudaArray_const_t, src,
              size_t, wOffset, size_t, hOffset, size_t, width, size_t, height, enum cudaMemcpyKind,
              kind) {
    CUDA_MEMCPY2D shape = simrt::flat_copy(dst, dpitch, nullptr, 0, width, height, kind);
    simrt::from_array(shape, src, wOffset, hOffset);
    return from(d.cuMemcpy2DUnaligned(&shape));
}

RT_STREAM_API(cudaMemcpy2DFromArrayAsync, _ptsz, void*, dst, size_t, dpitch, cudaArray_const_t, src,
              size_t, wOffset, size_t, hOffset, size_t, width, size_t, height, enum cudaMemcpyKind,
              kind, cudaStream_t, stream) {
    CUDA_MEMCPY2D shape = simrt::flat_copy(dst, dpitch, nullptr, 0, width, height, kind);
    simrt::from_array(shape, src, wOffset, hOffset);
    return from(d.cuMemcpy2DAsync(&shape, stream));
}

RT_STREAM_API(cudaMemcpy2DArrayToArray, _ptds, cudaArray_t, dst, size_t, wOffsetDst, size_t,
              hOffsetDst, cudaArray_const_t, src, size_t, wOffsetSrc, size_t, hOffsetSrc, size_t,
              width, size_t, height, enum cudaMemcpyKind, kind) {
    CUDA_MEMCPY2D shape = simrt::flat_copy(nullptr, 0, nullptr, 0, width, height, kind);
    simrt::from_array(shape, src, wOffsetSrc, hOffsetSrc);
    simrt::to_array(shape, dst, wOffsetDst, hOffsetDst);
    return from(d.cuMemcpy2DUnaligned(&shape));
}

RT_STREAM_API(cudaMemcpyToArray, _ptds, cudaArray_t, dst, size_t, wOffset, size_t, hOffset,
              const void*, src, size_t, count, enum cudaMemcpyKind, kind) {
    CUDA_MEMCPY2D shape = simrt::flat_copy(nullptr, 0, src, count, count, 1, kind);
    simrt::to_array(shape, dst, wOffset, hOffset);
    return from(d.cuMemcpy2DUnaligned(&shape));
}

RT_STREAM_API(cudaMemcpyFromArray, _ptds, void*, dst, cudaArray_const_t, src, size_t, wOffset,
              size_t, hOffset, size_t, count, enum cudaMemcpyKind, kind) {
    CUDA_MEMCPY2D shape = simrt::flat_copy(dst, count, nullptr, 0, count, 1, kind);
    simrt::from_array(shape, src, wOffset, hOffset);
    return from(d.cuMemcpy2DUnaligned(&shape));
}

RT_STREAM_API(cudaMemcpy3D, _ptds, const struct cudaMemcpy3DParms*, p) {
    SIMRT_REQUIRE(p != nullptr);
    CUDA_MEMCPY3D shape{};
    SIMRT_TRY(simrt::deep_copy(d, *p, shape));
    return from(d.cuMemcpy3D(&shape));
}

RT_STREAM_API(cudaMemcpy3DAsync, _ptsz, const struct cudaMemcpy3DParms*, p, cudaStream_t, stream) {
    SIMRT_REQUIRE(p != nullptr);
    CUDA_MEMCPY3D shape{};
    SIMRT_TRY(simrt::deep_copy(d, *p, shape));
    return from(d.cuMemcpy3DAsync(&shape, stream));
}

RT_STREAM_API(cudaMemcpyBatchAsync, _ptsz, void* const*, dsts, const void* const*, srcs,
              const size_t*, sizes, size_t, count, struct cudaMemcpyAttributes*, attrs, size_t*,
              attrsIdxs, size_t, numAttrs, cudaStream_t, stream) {
    SIMRT_REQUIRE(dsts != nullptr && srcs != nullptr && sizes != nullptr);
    std::vector<CUdeviceptr> to(count);
    std::vector<CUdeviceptr> source(count);
    std::vector<size_t> bytes(sizes, sizes + count);
    std::transform(dsts, dsts + count, to.begin(), [](void* pointer) { return device(pointer); });
    std::transform(srcs, srcs + count, source.begin(),
                   [](const void* pointer) { return device(pointer); });
    return from(d.cuMemcpyBatchAsync(to.data(), source.data(), bytes.data(), count,
                                     reinterpret_cast<CUmemcpyAttributes*>(attrs), attrsIdxs,
                                     numAttrs, stream));
}

RT_STREAM_API(cudaMemset, _ptds, void*, devPtr, int, value, size_t, count) {
    return count == 0
               ? cudaSuccess
               : from(d.cuMemsetD8(device(devPtr), static_cast<unsigned char>(value), count));
}

RT_STREAM_API(cudaMemsetAsync, _ptsz, void*, devPtr, int, value, size_t, count, cudaStream_t,
              stream) {
    return count == 0 ? cudaSuccess
                      : from(d.cuMemsetD8Async(device(devPtr), static_cast<unsigned char>(value),
                                               count, stream));
}

RT_STREAM_API(cudaMemset2D, _ptds, void*, devPtr, size_t, pitch, int, value, size_t, width, size_t,
              height) {
    return from(
        d.cuMemsetD2D8(device(devPtr), pitch, static_cast<unsigned char>(value), width, height));
}

RT_STREAM_API(cudaMemset2DAsync, _ptsz, void*, devPtr, size_t, pitch, int, value, size_t, width,
              size_t, height, cudaStream_t, stream) {
    return from(d.cuMemsetD2D8Async(device(devPtr), pitch, static_cast<unsigned char>(value), width,
                                    height, stream));
}

RT_STREAM_API(cudaMemset3D, _ptds, struct cudaPitchedPtr, pitchedDevPtr, int, value,
              struct cudaExtent, extent) {
    return fill_rows(d, pitchedDevPtr, value, extent, false, nullptr);
}

RT_STREAM_API(cudaMemset3DAsync, _ptsz, struct cudaPitchedPtr, pitchedDevPtr, int, value,
              struct cudaExtent, extent, cudaStream_t, stream) {
    return fill_rows(d, pitchedDevPtr, value, extent, true, stream);
}
