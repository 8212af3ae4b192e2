// Arrays and mipmapped arrays: memory behind a handle, with a layout only the driver knows.
#include <algorithm>

#include "interpose/driver_allocation.hpp"
#include "interpose/driver_library.hpp"

namespace cuward {
namespace {

/// 0 for normalized, compressed and video formats.
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
        default:
            return 0;
    }
}

/// A dimension of 0 does not exist (Driver API manual, cuArray3DCreate). Where the size of an
/// element is not known it is about a byte.
template <typename Descriptor>
ArrayLayout layout_of(const Descriptor* array) {
    if (array == nullptr) {
        return {};  // the driver refuses the call itself
    }
    const auto at_least_one = [](std::uint64_t n) { return std::max<std::uint64_t>(n, 1); };
    const std::uint64_t channel_bytes = bytes_of(array->Format);
    ArrayLayout layout{.element_bytes = at_least_one(channel_bytes) * array->NumChannels,
                       .width = at_least_one(array->Width),
                       .rows = at_least_one(array->Height),
                       .is_known = channel_bytes != 0};
    if constexpr (requires { array->Depth; }) {
        layout.slices = at_least_one(array->Depth);
        layout.is_layered = (array->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    }
    return layout;
}

std::uint64_t bytes_of(ArrayLayout layout, unsigned int levels) {
    constexpr unsigned int kMost = 64;  // no extent can be halved more often
    std::uint64_t bytes = 0;
    for (unsigned int level = 0; level < std::min(levels, kMost); ++level) {
        bytes += layout.bytes();
        layout = layout.next_level();
    }
    return bytes;
}

template <typename Handle>
Address address(Handle handle) {
    return reinterpret_cast<Address>(handle);
}

template <typename Descriptor, typename Call>
CUresult allocate_array(const char* api, const CUarray* array, const Descriptor* descriptor,
                        Call call) {
    const ArrayLayout layout = layout_of(descriptor);
    return allocate_by_driver(api, layout.bytes(), call, [&] {
        return NewBlock{.kind = BlockKind::Array,
                        .ptr = address(*array),
                        .bytes = layout.bytes(),
                        .layout = layout};
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
    const ArrayLayout layout = layout_of(descriptor);
    const std::uint64_t bytes = bytes_of(layout, levels);
    return allocate_by_driver(
        "cuMipmappedArrayCreate", bytes,
        [&] { return real<Hook::cuMipmappedArrayCreate_>()(array, descriptor, levels); },
        [&] {
            return NewBlock{.kind = BlockKind::MipmappedArray,
                            .ptr = address(*array),
                            .bytes = bytes,
                            .layout = layout};
        });
}

CUresult hook_cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray* array, CUexternalMemory memory,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* description) {
    using namespace cuward;
    const CUresult result =
        real<Hook::cuExternalMemoryGetMappedMipmappedArray_>()(array, memory, description);
    watch_allocation(result, "cuExternalMemoryGetMappedMipmappedArray", [&] {
        const ArrayLayout layout = layout_of(&description->arrayDesc);
        return NewBlock{.kind = BlockKind::MipmappedArray,
                        .ptr = address(*array),
                        .bytes = bytes_of(layout, description->numLevels),
                        .layout = layout,
                        .is_imported = true};
    });
    return result;
}

CUresult hook_cuMipmappedArrayDestroy(CUmipmappedArray array) {
    using namespace cuward;
    return watch_free(
        {.kind = FreeKind::MipmappedArray, .ptr = address(array)}, "cuMipmappedArrayDestroy",
        [array](Tool*, const BlockId&) { return real<Hook::cuMipmappedArrayDestroy_>()(array); });
}
