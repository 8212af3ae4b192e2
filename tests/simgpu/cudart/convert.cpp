#include "convert.hpp"

#include <algorithm>

namespace simrt {
namespace {

CUarray array_handle(cudaArray_const_t array) {
    return reinterpret_cast<CUarray>(const_cast<cudaArray*>(array));
}

CUarray_format format_of(const cudaChannelFormatDesc& channel) {
    const bool is_signed = channel.f == cudaChannelFormatKindSigned;
    if (channel.f == cudaChannelFormatKindFloat) {
        return channel.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    }
    switch (channel.x) {
        case 8:
            return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
        case 16:
            return is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
        default:
            return is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
    }
}

struct Format {
    CUarray_format format;
    int bits;
    cudaChannelFormatKind kind;
};

constexpr Format formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

cudaError_t element_bytes(const Driver& driver, cudaArray_const_t array, size_t& bytes) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    SIMRT_TRY(from(driver.cuArray3DGetDescriptor(&descriptor, array_handle(array))));
    const cudaChannelFormatDesc channel = channel_of(descriptor);
    bytes = static_cast<size_t>(channel.x + channel.y + channel.z + channel.w) / 8;
    return cudaSuccess;
}

}  // namespace

CUDA_ARRAY3D_DESCRIPTOR array_descriptor(const cudaChannelFormatDesc& channel, cudaExtent extent,
                                         unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    descriptor.Width = extent.width;
    descriptor.Height = extent.height;
    descriptor.Depth = extent.depth;
    descriptor.Format = format_of(channel);
    for (const int bits : {channel.x, channel.y, channel.z, channel.w}) {
        descriptor.NumChannels += bits != 0 ? 1 : 0;
    }
    descriptor.Flags = flags;
    return descriptor;
}

cudaChannelFormatDesc channel_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    for (const Format& format : formats) {
        if (format.format == descriptor.Format) {
            const auto bits = [&](unsigned channel) {
                return channel <= descriptor.NumChannels ? format.bits : 0;
            };
            return {bits(1), bits(2), bits(3), bits(4), format.kind};
        }
    }
    return {};
}

cudaError_t make_array(const Driver& driver, cudaArray_t* array,
                       const cudaChannelFormatDesc& channel, cudaExtent extent, unsigned flags) {
    const CUDA_ARRAY3D_DESCRIPTOR deep = array_descriptor(channel, extent, flags);
    auto* out = reinterpret_cast<CUarray*>(array);
    if (extent.depth == 0 && flags == 0) {
        CUDA_ARRAY_DESCRIPTOR flat{};
        flat.Width = deep.Width;
        flat.Height = deep.Height;
        flat.Format = deep.Format;
        flat.NumChannels = deep.NumChannels;
        return from(driver.cuArrayCreate(out, &flat));
    }
    return from(driver.cuArray3DCreate(out, &deep));
}

Types types_of(cudaMemcpyKind kind) {
    switch (kind) {
        case cudaMemcpyHostToHost:
            return {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST};
        case cudaMemcpyHostToDevice:
            return {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE};
        case cudaMemcpyDeviceToHost:
            return {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
        case cudaMemcpyDeviceToDevice:
            return {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE};
        default:
            return {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED};
    }
}

CUDA_MEMCPY2D flat_copy(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                        size_t width, size_t height, cudaMemcpyKind kind) {
    const Types types = types_of(kind);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = types.source;
    copy.srcHost = from;
    copy.srcDevice = reinterpret_cast<CUdeviceptr>(from);
    copy.srcPitch = from_pitch;
    copy.dstMemoryType = types.target;
    copy.dstHost = to;
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(to);
    copy.dstPitch = to_pitch;
    copy.WidthInBytes = width;
    copy.Height = height;
    return copy;
}

void from_array(CUDA_MEMCPY2D& copy, cudaArray_const_t array, size_t x, size_t y) {
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array_handle(array);
    copy.srcXInBytes = x;
    copy.srcY = y;
}

void to_array(CUDA_MEMCPY2D& copy, cudaArray_t array, size_t x, size_t y) {
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array_handle(array);
    copy.dstXInBytes = x;
    copy.dstY = y;
}

// Extents and array positions are in elements when an array takes part, in bytes otherwise.
cudaError_t deep_copy(const Driver& driver, const cudaMemcpy3DParms& parms, CUDA_MEMCPY3D& copy) {
    const Types types = types_of(parms.kind);
    size_t source_element = 1;
    size_t target_element = 1;
    size_t element = 1;
    copy = {};
    if (parms.srcArray != nullptr) {
        SIMRT_TRY(element_bytes(driver, parms.srcArray, source_element));
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = array_handle(parms.srcArray);
        element = source_element;
    } else {
        copy.srcMemoryType = types.source;
        copy.srcHost = parms.srcPtr.ptr;
        copy.srcDevice = reinterpret_cast<CUdeviceptr>(parms.srcPtr.ptr);
        copy.srcPitch = parms.srcPtr.pitch;
        copy.srcHeight = parms.srcPtr.ysize;
    }
    if (parms.dstArray != nullptr) {
        SIMRT_TRY(element_bytes(driver, parms.dstArray, target_element));
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array_handle(parms.dstArray);
        element = target_element;
    } else {
        copy.dstMemoryType = types.target;
        copy.dstHost = parms.dstPtr.ptr;
        copy.dstDevice = reinterpret_cast<CUdeviceptr>(parms.dstPtr.ptr);
        copy.dstPitch = parms.dstPtr.pitch;
        copy.dstHeight = parms.dstPtr.ysize;
    }
    copy.srcXInBytes = parms.srcPos.x * source_element;
    copy.srcY = parms.srcPos.y;
    copy.srcZ = parms.srcPos.z;
    copy.dstXInBytes = parms.dstPos.x * target_element;
    copy.dstY = parms.dstPos.y;
    copy.dstZ = parms.dstPos.z;
    copy.WidthInBytes = parms.extent.width * element;
    copy.Height = std::max<size_t>(1, parms.extent.height);
    copy.Depth = std::max<size_t>(1, parms.extent.depth);
    return cudaSuccess;
}

CUDA_MEMCPY3D linear_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    const Types types = types_of(kind);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = types.source;
    copy.srcHost = from;
    copy.srcDevice = reinterpret_cast<CUdeviceptr>(from);
    copy.dstMemoryType = types.target;
    copy.dstHost = to;
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(to);
    copy.WidthInBytes = bytes;
    copy.Height = 1;
    copy.Depth = 1;
    return copy;
}

}  // namespace simrt
