// A __managed__ variable is memory like any other to the kernels that are given its address.
#include "app.hpp"
#include "kernels.hpp"

__managed__ float table[app::kCount];

int main() {
    Stream first, second;
    float* const data = table;

    fill<<<kGrid, kThreads, 0, first>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    order(first, second);
#endif
    add_one<<<kGrid, kThreads, 0, second>>>(data, kCount);  // SECOND
    return finish();
}
