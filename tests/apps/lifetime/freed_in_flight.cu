// A stream-ordered free must be ordered after the uses on other streams.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream owner, user;
    float* data;
    CHECK(cudaMallocAsync(&data, kBytes, owner));  // ALLOC
    order(owner, user);
    fill<<<kGrid, kThreads, 0, user>>>(data, kCount, 1.0F);  // USE
#ifdef FIXED
    order(user, owner);
#endif
    CHECK(cudaFreeAsync(data, owner));  // FREE
    return finish();
}
