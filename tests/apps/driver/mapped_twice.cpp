// Two addresses that the same physical memory is mapped at are the same memory.
#include "mapped.hpp"

int main() {
    use_primary_context();
    const std::size_t bytes = granularity();
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle memory, other;
    CHECK(cuMemCreate(&memory, bytes, &properties, 0));  // ALLOC
    CHECK(cuMemCreate(&other, bytes, &properties, 0));
    const CUdeviceptr front = reserve(bytes);
    const CUdeviceptr back = reserve(bytes);
    map(front, memory, bytes);
#ifdef FIXED
    map(back, other, bytes);
#else
    map(back, memory, bytes);
#endif
    {
        Stream first, second;
        CHECK(cuMemsetD8Async(front, 1, bytes, first));           // FIRST
        CHECK(cuMemsetD8Async(back + bytes / 2, 2, 64, second));  // SECOND
        CHECK(cuCtxSynchronize());
    }
    unmap(front, bytes);
    unmap(back, bytes);
    CHECK(cuMemRelease(memory));
    CHECK(cuMemRelease(other));
    std::puts("done");
    return 0;
}
