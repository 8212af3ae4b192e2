// Where a block starts and how long it is.
#include "interpose/driver_library.hpp"
#include "interpose/guarded_memory.hpp"

CUresult hook_cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr ptr) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMemGetAddressRange_v2_>()(base, bytes, ptr);
    const auto block = result == CUDA_SUCCESS ? find_guarded(ptr) : std::nullopt;
    if (block && base != nullptr) {
        *base = block->ptr;
    }
    if (block && bytes != nullptr) {
        *bytes = block->bytes;
    }
    return result;
}
