// A prefetch moves managed memory and does not touch what is in it: it needs no order, and gives
// none to other streams.
#include "app.hpp"
#include "kernels.hpp"

namespace {

void prefetch(const void* data, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
    CHECK(cudaMemPrefetchAsync(data, kBytes, {cudaMemLocationTypeDevice, 0}, 0, stream));
#else
    CHECK(cudaMemPrefetchAsync(data, kBytes, 0, stream));
#endif
}

}  // namespace

int main() {
    Stream first, second;
    float* data;
    CHECK(cudaMallocManaged(&data, kBytes));  // ALLOC

    fill<<<kGrid, kThreads, 0, first>>>(data, kCount, 1.0F);  // FIRST
    prefetch(data, second);
#ifdef FIXED
    order(first, second);
#endif
    add_one<<<kGrid, kThreads, 0, second>>>(data, kCount);  // SECOND
    return finish({data});
}
