// Arrays and mipmapped arrays: memory behind a handle, with a layout only the driver knows.
#include <algorithm>

#include "interpose/driver_allocation.hpp"
#include "interpose/driver_library.hpp"

namespace cuward {
namespace {

std::uint64_t bytes_of(CUarray_format format) {
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8:
            return 1;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF:
            return 2;
        case CU_AD_FORMAT_UNSIGNED_INT32:
        case CU_AD_FORMAT_SIGNED_INT32:
        case CU_AD_FORMAT_FLOAT:
            return 4;
        default:  // normalized, compressed and video formats: about a byte an element
            return 1;
    }
}

struct Extent {
    std::uint64_t width;
    std::uint64_t height;
    std::uint64_t depth;
    std::uint64_t element_bytes;
};

Extent extent_of(const CUDA_ARRAY_DESCRIPTOR& array) {
    return {array.Width, array.Height, 1, bytes_of(array.Format) * array.NumChannels};
}

Extent extent_of(const CUDA_ARRAY3D_DESCRIPTOR& array) {
    return {array.Width, array.Height, array.Depth, bytes_of(array.Format) * array.NumChannels};
}

/// The elements alone; a dimension of 0 does not exist (Driver API manual, cuArray3DCreate).
std::uint64_t payload(const Extent& extent) {
    const auto at_least_one = [](std::uint64_t n) { return std::max<std::uint64_t>(n, 1); };
    return at_least_one(extent.width) * at_least_one(extent.height) * at_least_one(extent.depth) *
           extent.element_bytes;
}

/// Every level has half the size of the one before in each dimension. Layers are not halved, so
/// this is a lower bound for layered arrays.
std::uint64_t payload(Extent extent, unsigned int levels) {
    constexpr unsigned int kMost = 64;  // no extent can be halved more often
    std::uint64_t bytes = 0;
    for (unsigned int level = 0; level < std::min(levels, kMost); ++level) {
        bytes += payload(extent);
        extent = {extent.width / 2, extent.height / 2, extent.depth / 2, extent.element_bytes};
    }
    return bytes;
}

template <typename Handle>
Address address(Handle handle) {
    return reinterpret_cast<Address>(handle);
}

/// The driver refuses a call without a descriptor itself.
template <typename Descriptor>
std::uint64_t payload(const Descriptor* descriptor) {
    return descriptor != nullptr ? payload(extent_of(*descriptor)) : 0;
}

template <typename Descriptor, typename Call>
CUresult allocate_array(const char* api, const CUarray* array, const Descriptor* descriptor,
                        Call call) {
    return allocate_by_driver(api, payload(descriptor), call, [&] {
        return NewBlock{
            .kind = BlockKind::Array, .ptr = address(*array), .bytes = payload(descriptor)};
    });
}

}  // namespace
}  // namespace cuward

CUresult hook_cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
    using namespace cuward;
    return allocate_array("cuArrayCreate", array, descriptor,
                          [&] { return real<Hook::cuArrayCreate_v2_>()(array, descriptor); });
}

CUresult hook_cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
    using namespace cuward;
    return allocate_array("cuArray3DCreate", array, descriptor,
                          [&] { return real<Hook::cuArray3DCreate_v2_>()(array, descriptor); });
}

CUresult hook_cuArrayDestroy(CUarray array) {
    using namespace cuward;
    return watch_free(
        {.kind = FreeKind::Array, .ptr = address(array)}, "cuArrayDestroy",
        [array](Tool*, const BlockId&) { return real<Hook::cuArrayDestroy_>()(array); });
}

CUresult hook_cuMipmappedArrayCreate(CUmipmappedArray* array,
                                     const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                     unsigned int levels) {
    using namespace cuward;
    const std::uint64_t bytes = descriptor != nullptr ? payload(extent_of(*descriptor), levels) : 0;
    return allocate_by_driver(
        "cuMipmappedArrayCreate", bytes,
        [&] { return real<Hook::cuMipmappedArrayCreate_>()(array, descriptor, levels); },
        [&] {
            return NewBlock{
                .kind = BlockKind::MipmappedArray, .ptr = address(*array), .bytes = bytes};
        });
}

CUresult hook_cuMipmappedArrayDestroy(CUmipmappedArray array) {
    using namespace cuward;
    return watch_free(
        {.kind = FreeKind::MipmappedArray, .ptr = address(array)}, "cuMipmappedArrayDestroy",
        [array](Tool*, const BlockId&) { return real<Hook::cuMipmappedArrayDestroy_>()(array); });
}
