#include "core/resource/resource_stack.hpp"

#include "core/resource/direct_cuda_resource.hpp"

namespace cuward {

std::unique_ptr<DeviceMemoryResource> make_resource_stack(CudaDevice device, int device_ordinal,
                                                          const Settings& /*settings*/) {
    return std::make_unique<DirectCudaResource>(device, device_ordinal);
}

}  // namespace cuward
