// A kernel that is given the address of a variable uses the variable.
#include "app.hpp"
#include "kernels.hpp"

__device__ float table[app::kCount];

int main() {
    Stream first, second;
    void* address;
    CHECK(cudaGetSymbolAddress(&address, table));  // ALLOC
    auto* data = static_cast<float*>(address);

    fill<<<kGrid, kThreads, 0, first>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    order(first, second);
#endif
    add_one<<<kGrid, kThreads, 0, second>>>(data, kCount);  // SECOND
    return finish();
}
