// A copy over several mappings touches the memory behind each of them.
#include "mapped.hpp"

int main() {
    use_primary_context();
    const std::size_t bytes = granularity();
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle low, high;
    CHECK(cuMemCreate(&low, bytes, &properties, 0));
    CHECK(cuMemCreate(&high, bytes, &properties, 0));  // ALLOC
    const CUdeviceptr data = reserve(2 * bytes);
    map(data, low, bytes);
    map(data + bytes, high, bytes);
    // The memory stays while it is mapped.
    CHECK(cuMemRelease(low));
    CHECK(cuMemRelease(high));
    {
        Stream first, second;
        CHECK(cuMemsetD8Async(data, 1, 2 * bytes, first));  // FIRST
#ifdef FIXED
        order(first, second);
#endif
        CHECK(cuMemsetD8Async(data + bytes + 64, 2, 64, second));  // SECOND
        CHECK(cuCtxSynchronize());
    }
    unmap(data, 2 * bytes);
    std::puts("done");
    return 0;
}
