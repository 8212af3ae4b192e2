// Two kernels that write the same memory need an order even if nobody reads in between.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream first, second;
    float* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC

    fill<<<kGrid, kThreads, 0, first>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    order(first, second);
#endif
    fill<<<kGrid, kThreads, 0, second>>>(data, kCount, 2.0F);  // SECOND
    return finish({data});
}
