// Physical memory lives until its handle is released and all its addresses are unmapped.
#include "mapped.hpp"

int main() {
    use_primary_context();
    const std::size_t bytes = granularity();
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle mapped, held;
    CHECK(cuMemCreate(&mapped, bytes, &properties, 0));  // MAPPED
    CHECK(cuMemCreate(&held, bytes, &properties, 0));    // HELD
    const CUdeviceptr data = reserve(2 * bytes);
    map(data, mapped, bytes);
    map(data + bytes, held, bytes);
    CHECK(cuMemRelease(mapped));
    CHECK(cuMemUnmap(data + bytes, bytes));
#ifdef FIXED
    CHECK(cuMemRelease(held));
    CHECK(cuMemUnmap(data, bytes));
    CHECK(cuMemAddressFree(data, 2 * bytes));
#endif
    std::puts("done");
    return 0;
}
