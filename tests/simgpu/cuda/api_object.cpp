#include <map>
#include <mutex>

#include "body.hpp"

using namespace simgpu;

// Texture and surface objects: handles of memory. Nothing is fetched through them: twins of kernels
// are given the number.
namespace {

struct Objects {
    std::mutex mutex;
    std::map<unsigned long long, CUDA_RESOURCE_DESC> known;
    unsigned long long next = 1;
};

Objects& textures() {
    static Objects& instance = *new Objects;
    return instance;
}

Objects& surfaces() {
    static Objects& instance = *new Objects;
    return instance;
}

CUresult check_resource(const CUDA_RESOURCE_DESC& resource) {
    switch (resource.resType) {
        case CU_RESOURCE_TYPE_ARRAY: {
            const Array* array = Array::from(resource.res.array.hArray);
            SIM_REQUIRE(array != nullptr && array->alive);
            return CUDA_SUCCESS;
        }
        case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
            SIM_REQUIRE(resource.res.mipmap.hMipmappedArray != nullptr);
            return CUDA_SUCCESS;
        case CU_RESOURCE_TYPE_LINEAR:
            SIM_REQUIRE(find_allocation(resource.res.linear.devPtr));
            return CUDA_SUCCESS;
        case CU_RESOURCE_TYPE_PITCH2D:
            SIM_REQUIRE(find_allocation(resource.res.pitch2D.devPtr));
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult create(Objects& objects, unsigned long long* handle, const CUDA_RESOURCE_DESC* resource) {
    SIM_REQUIRE(handle != nullptr && resource != nullptr);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_TRY(check_resource(*resource));
    const std::lock_guard lock(objects.mutex);
    *handle = objects.next++;
    objects.known[*handle] = *resource;
    return CUDA_SUCCESS;
}

CUresult destroy(Objects& objects, unsigned long long handle) {
    const std::lock_guard lock(objects.mutex);
    SIM_REQUIRE(objects.known.erase(handle) != 0);
    return CUDA_SUCCESS;
}

CUresult describe(Objects& objects, CUDA_RESOURCE_DESC* resource, unsigned long long handle) {
    const std::lock_guard lock(objects.mutex);
    const auto found = objects.known.find(handle);
    SIM_REQUIRE(resource != nullptr && found != objects.known.end());
    *resource = found->second;
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API(cuTexObjectCreate, , 5000, CUtexObject*, pTexObject, const CUDA_RESOURCE_DESC*, pResDesc,
        const CUDA_TEXTURE_DESC*, pTexDesc, const CUDA_RESOURCE_VIEW_DESC*, pResViewDesc) {
    SIM_REQUIRE(pTexDesc != nullptr);
    (void)pResViewDesc;
    return create(textures(), pTexObject, pResDesc);
}

SIM_API(cuTexObjectDestroy, , 5000, CUtexObject, texObject) {
    return destroy(textures(), texObject);
}

SIM_API(cuTexObjectGetResourceDesc, , 5000, CUDA_RESOURCE_DESC*, pResDesc, CUtexObject, texObject) {
    return describe(textures(), pResDesc, texObject);
}

SIM_API(cuSurfObjectCreate, , 5000, CUsurfObject*, pSurfObject, const CUDA_RESOURCE_DESC*,
        pResDesc) {
    SIM_REQUIRE(pResDesc != nullptr && pResDesc->resType == CU_RESOURCE_TYPE_ARRAY);
    return create(surfaces(), pSurfObject, pResDesc);
}

SIM_API(cuSurfObjectDestroy, , 5000, CUsurfObject, surfObject) {
    return destroy(surfaces(), surfObject);
}

SIM_API(cuSurfObjectGetResourceDesc, , 5000, CUDA_RESOURCE_DESC*, pResDesc, CUsurfObject,
        surfObject) {
    return describe(surfaces(), pResDesc, surfObject);
}
