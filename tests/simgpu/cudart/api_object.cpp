#include "convert.hpp"
#include "runtime.hpp"

using simrt::from;

namespace {

CUdeviceptr device(const void* pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

bool convert(const cudaResourceDesc& resource, CUDA_RESOURCE_DESC& converted) {
    converted = {};
    const auto format = [](const cudaChannelFormatDesc& channel) {
        return simrt::array_descriptor(channel, {}, 0);
    };
    switch (resource.resType) {
        case cudaResourceTypeArray:
            converted.resType = CU_RESOURCE_TYPE_ARRAY;
            converted.res.array.hArray = reinterpret_cast<CUarray>(resource.res.array.array);
            return true;
        case cudaResourceTypeMipmappedArray:
            converted.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
            converted.res.mipmap.hMipmappedArray =
                reinterpret_cast<CUmipmappedArray>(resource.res.mipmap.mipmap);
            return true;
        case cudaResourceTypeLinear: {
            const auto& linear = resource.res.linear;
            converted.resType = CU_RESOURCE_TYPE_LINEAR;
            converted.res.linear = {device(linear.devPtr), format(linear.desc).Format,
                                    format(linear.desc).NumChannels, linear.sizeInBytes};
            return true;
        }
        case cudaResourceTypePitch2D: {
            const auto& rows = resource.res.pitch2D;
            converted.resType = CU_RESOURCE_TYPE_PITCH2D;
            converted.res.pitch2D = {device(rows.devPtr),
                                     format(rows.desc).Format,
                                     format(rows.desc).NumChannels,
                                     rows.width,
                                     rows.height,
                                     rows.pitchInBytes};
            return true;
        }
        default:
            return false;
    }
}

}  // namespace

RT_API(cudaCreateTextureObject, cudaTextureObject_t*, pTexObject, const struct cudaResourceDesc*,
       pResDesc, const struct cudaTextureDesc*, pTexDesc, const struct cudaResourceViewDesc*,
       pResViewDesc) {
    CUDA_RESOURCE_DESC resource;
    SIMRT_REQUIRE(pResDesc != nullptr && pTexDesc != nullptr && pResViewDesc == nullptr);
    SIMRT_REQUIRE(convert(*pResDesc, resource));
    const CUDA_TEXTURE_DESC texture{};
    return from(d.cuTexObjectCreate(pTexObject, &resource, &texture, nullptr));
}

RT_API(cudaDestroyTextureObject, cudaTextureObject_t, texObject) {
    return texObject == 0 ? cudaSuccess : from(d.cuTexObjectDestroy(texObject));
}

RT_API(cudaCreateSurfaceObject, cudaSurfaceObject_t*, pSurfObject, const struct cudaResourceDesc*,
       pResDesc) {
    CUDA_RESOURCE_DESC resource;
    SIMRT_REQUIRE(pResDesc != nullptr && convert(*pResDesc, resource));
    return from(d.cuSurfObjectCreate(pSurfObject, &resource));
}

RT_API(cudaDestroySurfaceObject, cudaSurfaceObject_t, surfObject) {
    return surfObject == 0 ? cudaSuccess : from(d.cuSurfObjectDestroy(surfObject));
}
