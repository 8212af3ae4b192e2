// Stream-ordered memory exists for other streams only once they are ordered after its allocation.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream owner, user;
    float* data;
    CHECK(cudaMallocAsync(&data, kBytes, owner));  // ALLOC
#ifdef FIXED
    order(owner, user);
#endif
    fill<<<kGrid, kThreads, 0, user>>>(data, kCount, 1.0F);  // USE
    CHECK(cudaStreamSynchronize(user));
    CHECK(cudaFreeAsync(data, owner));
    return finish();
}
