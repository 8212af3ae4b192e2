// Every copy of a batch reads and writes its bytes, the last one too.
#include <array>

#include "driver_app.hpp"

#if CUDA_VERSION >= 13000
namespace {

std::array<std::size_t, 2> sizes{kBytes, kBytes};
CUmemcpyAttributes attributes{CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, {}, {}, 0};
std::size_t first_of_attributes = 0;

}  // namespace
#define COPY_BOTH(to, from, stream)                                                         \
    cuMemcpyBatchAsync((to).data(), (from).data(), sizes.data(), sizes.size(), &attributes, \
                       &first_of_attributes, 1, stream)
#else  // older toolkits have it in another form, or not at all
#define COPY_BOTH(to, from, stream) cuMemcpyDtoDAsync((to)[1], (from)[1], kBytes, stream)
#endif

int main() {
    use_primary_context();
    CUstream copying, setting;
    CUevent copied;
    std::array<CUdeviceptr, 2> sources, targets;
    CHECK(cuStreamCreate(&copying, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&setting, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&copied, CU_EVENT_DISABLE_TIMING));
    for (CUdeviceptr& source : sources) CHECK(cuMemAlloc(&source, kBytes));
    for (CUdeviceptr& target : targets) CHECK(cuMemAlloc(&target, kBytes));  // ALLOC

    CHECK(COPY_BOTH(targets, sources, copying));  // FIRST
    CHECK(cuEventRecord(copied, copying));
#ifdef FIXED
    CHECK(cuStreamWaitEvent(setting, copied, 0));
#endif
    CHECK(cuMemsetD32Async(targets[1], 1, kCount, setting));  // SECOND

    CHECK(cuCtxSynchronize());
    for (const CUdeviceptr source : sources) CHECK(cuMemFree(source));
    for (const CUdeviceptr target : targets) CHECK(cuMemFree(target));
    CHECK(cuEventDestroy(copied));
    CHECK(cuStreamDestroy(copying));
    CHECK(cuStreamDestroy(setting));
    std::puts("done");
    return 0;
}
