// Pinned memory that is never freed is a leak, as is a registration that is never taken back.
#include "app.hpp"

int main() {
    void *pinned, *mapped;
    void* registered = std::aligned_alloc(4096, kBytes);
    CHECK(cudaMallocHost(&pinned, kBytes));                                // PINNED
    CHECK(cudaHostAlloc(&mapped, kBytes, cudaHostAllocMapped));            // MAPPED
    CHECK(cudaHostRegister(registered, kBytes, cudaHostRegisterDefault));  // REGISTERED
#ifdef FIXED
    CHECK(cudaHostUnregister(registered));
    std::free(registered);
    return finish({}, {pinned, mapped});
#else
    return finish();
#endif
}
