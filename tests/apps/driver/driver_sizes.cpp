// What a program can ask about a block is what it would be without the guard.
#include <initializer_list>

#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUdeviceptr data = 0, other = 0;
    CHECK(cuMemAlloc(&data, 1001));
    CHECK(cuMemAllocAsync(&other, 5000, nullptr));
    for (const CUdeviceptr block : {data, other}) {
        CUdeviceptr base = 0, start = 0;
        std::size_t bytes = 0, size = 0;
        CHECK(cuMemGetAddressRange(&base, &bytes, block + 100));
        CHECK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, block + 100));
        CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_RANGE_SIZE;
        void* result = &size;
        CHECK(cuPointerGetAttributes(1, &attribute, &result, block + 100));
        std::printf("%d %zu %d %zu, aligned: %d\n", base == block, bytes, start == block, size,
                    block % 512 == 0);
    }
    CHECK(cuMemFreeAsync(other, nullptr));
    CHECK(cuMemFree(data));
    std::puts("done");
    return 0;
}
