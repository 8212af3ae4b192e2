// What a live block costs the tool.
#include <malloc.h>

#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ResourceMemory, OfALiveBlockIsSmall) {
    constexpr int kBlocks = 1'000'000;
    DriverApi driver;
    driver.mem_alloc = [](CUdeviceptr* address, std::size_t bytes) {
        static CUdeviceptr next = 0x7f0000000000;
        *address = next;
        next += bytes;
        return CUDA_SUCCESS;
    };
    const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    DirectCudaResource resource(CudaDevice(driver, &observed_order()), kDevice);
    for (int i = 0; i < kBlocks; ++i) {
        ASSERT_TRUE(resource.allocate(512, kNoStream, AllocTag{}));
    }
    const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    EXPECT_LE((after - before) / kBlocks, 150U);
    RecordProperty("bytes_per_block", static_cast<int>((after - before) / kBlocks));
}
#endif

}  // namespace
}  // namespace cuward::testing
