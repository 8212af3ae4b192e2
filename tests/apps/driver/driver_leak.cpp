// Memory of the driver API that is never freed is a leak while its context lives.
#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUdeviceptr plain, pitched;
    void* pinned;
    std::size_t pitch;
    CHECK(cuMemAlloc(&plain, kBytes));                      // PLAIN
    CHECK(cuMemAllocPitch(&pitched, &pitch, 1000, 16, 4));  // PITCHED
    CHECK(cuMemHostAlloc(&pinned, kBytes, 0));              // PINNED
#ifdef FIXED
    CHECK(cuMemFree(plain));
    CHECK(cuMemFree(pitched));
    CHECK(cuMemFreeHost(pinned));
#endif
    std::puts("done");
    return 0;
}
