// cuMemUnmap waits for nothing: uses of the addresses have to be complete.
#include "mapped.hpp"

int main() {
    use_primary_context();
    const std::size_t bytes = granularity();
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle memory;
    CHECK(cuMemCreate(&memory, bytes, &properties, 0));  // ALLOC
    const CUdeviceptr data = reserve(bytes);
    map(data, memory, bytes);
    void* flag;
    CHECK(cuMemHostAlloc(&flag, 1, 0));
    auto* const is_set = static_cast<volatile char*>(flag);
    *is_set = 0;
    {
        Stream stream;
        CHECK(cuMemsetD8Async(data, 1, bytes, stream));  // USE
        CHECK(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(flag), 1, 1, stream));
        // By then the first memset has run, but no call of CUDA's has said so.
        while (*is_set == 0) {
        }
#ifdef FIXED
        CHECK(cuStreamSynchronize(stream));
#endif
        CHECK(cuMemUnmap(data, bytes));  // FREE
        CHECK(cuStreamSynchronize(stream));
    }
    CHECK(cuMemFreeHost(flag));
    CHECK(cuMemAddressFree(data, bytes));
    CHECK(cuMemRelease(memory));
    std::puts("done");
    return 0;
}
