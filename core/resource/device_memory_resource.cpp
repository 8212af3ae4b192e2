#include "core/resource/device_memory_resource.hpp"

#include <cuda.h>

namespace cuward {
namespace {

/// A resource that does not track uses cannot order them either: doing nothing would be false
/// safety.
ResourceResult<void> untracked() {
    return tl::unexpected(ResourceFailure{ResourceError::StreamMisuse, CUDA_ERROR_NOT_SUPPORTED});
}

}  // namespace

ResourceResult<void> DeviceMemoryResource::record_block_use(const BlockId& /*block*/,
                                                            StreamId /*use_stream*/) {
    return untracked();
}

ResourceResult<void> DeviceMemoryResource::prepare_block_use(const BlockId& /*block*/,
                                                             StreamId /*use_stream*/,
                                                             Access /*access*/) {
    return untracked();
}

ResourceResult<void> DeviceMemoryResource::finish_block_use(const BlockId& /*block*/,
                                                            StreamId /*use_stream*/,
                                                            Access /*access*/) {
    return untracked();
}

}  // namespace cuward
