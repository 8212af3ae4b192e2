#include <algorithm>
#include <memory>

#include "body.hpp"

using namespace simgpu;

namespace {

struct Mipmapped {
    std::vector<std::unique_ptr<Array>> levels;
};

size_t format_bytes(CUarray_format format) {
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

CUresult make_array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, std::unique_ptr<Array>& array) {
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_TRY(forbid_in_capture(*context));
    const size_t element = format_bytes(descriptor.Format) * descriptor.NumChannels;
    SIM_REQUIRE(element != 0 && descriptor.Width != 0);
    array.reset(new_handle<Array>());
    array->descriptor = descriptor;
    array->element_bytes = element;
    array->context = context;
    array->storage.resize(array->pitch() * array->rows() * array->slices());
    return CUDA_SUCCESS;
}

CUDA_ARRAY3D_DESCRIPTOR widened(const CUDA_ARRAY_DESCRIPTOR& flat) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    descriptor.Width = flat.Width;
    descriptor.Height = flat.Height;
    descriptor.Format = flat.Format;
    descriptor.NumChannels = flat.NumChannels;
    return descriptor;
}

CUresult require_array(CUarray handle, Array*& array) {
    array = Array::from(handle);
    return array != nullptr && array->alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// The handle stays recognisable; its memory goes.
CUresult destroy(Array& array) {
    SIM_TRY(forbid_in_capture(*array.context));
    synchronize_device(array.context->device());
    array.alive = false;
    array.storage = {};
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API(cuArrayCreate, _v2, 3020, CUarray*, pHandle, const CUDA_ARRAY_DESCRIPTOR*, pAllocateArray) {
    SIM_REQUIRE(pHandle != nullptr && pAllocateArray != nullptr);
    std::unique_ptr<Array> array;
    SIM_TRY(make_array(widened(*pAllocateArray), array));
    *pHandle = reinterpret_cast<CUarray>(array.release());
    return CUDA_SUCCESS;
}

SIM_API(cuArray3DCreate, _v2, 3020, CUarray*, pHandle, const CUDA_ARRAY3D_DESCRIPTOR*,
        pAllocateArray) {
    SIM_REQUIRE(pHandle != nullptr && pAllocateArray != nullptr);
    std::unique_ptr<Array> array;
    SIM_TRY(make_array(*pAllocateArray, array));
    *pHandle = reinterpret_cast<CUarray>(array.release());
    return CUDA_SUCCESS;
}

SIM_API(cuArrayGetDescriptor, _v2, 3020, CUDA_ARRAY_DESCRIPTOR*, pArrayDescriptor, CUarray,
        hArray) {
    SIM_REQUIRE(pArrayDescriptor != nullptr);
    Array* array = nullptr;
    SIM_TRY(require_array(hArray, array));
    pArrayDescriptor->Width = array->descriptor.Width;
    pArrayDescriptor->Height = array->descriptor.Height;
    pArrayDescriptor->Format = array->descriptor.Format;
    pArrayDescriptor->NumChannels = array->descriptor.NumChannels;
    return CUDA_SUCCESS;
}

SIM_API(cuArray3DGetDescriptor, _v2, 3020, CUDA_ARRAY3D_DESCRIPTOR*, pArrayDescriptor, CUarray,
        hArray) {
    SIM_REQUIRE(pArrayDescriptor != nullptr);
    Array* array = nullptr;
    SIM_TRY(require_array(hArray, array));
    *pArrayDescriptor = array->descriptor;
    return CUDA_SUCCESS;
}

SIM_API(cuArrayGetMemoryRequirements, , 11060, CUDA_ARRAY_MEMORY_REQUIREMENTS*, memoryRequirements,
        CUarray, array, CUdevice, device) {
    SIM_REQUIRE(memoryRequirements != nullptr);
    Array* found = nullptr;
    SIM_TRY(require_array(array, found));
    *memoryRequirements = {};
    memoryRequirements->size = found->storage.size();
    memoryRequirements->alignment = 512;
    return CUDA_SUCCESS;
}

SIM_API(cuArrayDestroy, , 2000, CUarray, hArray) {
    Array* array = nullptr;
    SIM_TRY(require_array(hArray, array));
    return destroy(*array);
}

SIM_API(cuMipmappedArrayCreate, , 5000, CUmipmappedArray*, pHandle, const CUDA_ARRAY3D_DESCRIPTOR*,
        pMipmappedArrayDesc, unsigned int, numMipmapLevels) {
    SIM_REQUIRE(pHandle != nullptr && pMipmappedArrayDesc != nullptr && numMipmapLevels != 0);
    std::unique_ptr<Mipmapped> mipmapped(new_handle<Mipmapped>());
    CUDA_ARRAY3D_DESCRIPTOR descriptor = *pMipmappedArrayDesc;
    for (unsigned level = 0; level < numMipmapLevels; ++level) {
        std::unique_ptr<Array> array;
        SIM_TRY(make_array(descriptor, array));
        mipmapped->levels.push_back(std::move(array));
        descriptor.Width = std::max<size_t>(1, descriptor.Width / 2);
        descriptor.Height = descriptor.Height > 1 ? descriptor.Height / 2 : descriptor.Height;
        descriptor.Depth = descriptor.Depth > 1 ? descriptor.Depth / 2 : descriptor.Depth;
    }
    *pHandle = reinterpret_cast<CUmipmappedArray>(mipmapped.release());
    return CUDA_SUCCESS;
}

SIM_API(cuMipmappedArrayGetLevel, , 5000, CUarray*, pLevelArray, CUmipmappedArray, hMipmappedArray,
        unsigned int, level) {
    auto* mipmapped = reinterpret_cast<Mipmapped*>(hMipmappedArray);
    SIM_REQUIRE(pLevelArray != nullptr && mipmapped != nullptr && level < mipmapped->levels.size());
    *pLevelArray = reinterpret_cast<CUarray>(mipmapped->levels[level].get());
    return CUDA_SUCCESS;
}

SIM_API(cuMipmappedArrayDestroy, , 5000, CUmipmappedArray, hMipmappedArray) {
    auto* mipmapped = reinterpret_cast<Mipmapped*>(hMipmappedArray);
    SIM_REQUIRE(mipmapped != nullptr && !mipmapped->levels.empty());
    for (const auto& level : mipmapped->levels) {
        SIM_TRY(destroy(*level));
    }
    return CUDA_SUCCESS;
}
