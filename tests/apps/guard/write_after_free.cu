// A block must not be written after its free, through whatever pointer in the device's memory.
#include "app.hpp"
#include "tests/simgpu/twin.hpp"

struct List {
    int* values;
};

__global__ void set_first(const List* list) {
    list->values[0] = 1;
}
SIMGPU_TWIN(set_first, [](const simgpu::Launch&, const List* list) { list->values[0] = 1; });

int main() {
    List here{}, *list;
    int* other;
    CHECK(cudaMalloc(&list, sizeof *list));
    CHECK(cudaMalloc(&here.values, 4096));  // ALLOC
    CHECK(cudaMalloc(&other, 4096));
    CHECK(cudaMemset(here.values, 0, 4096));  // LAST
    CHECK(cudaMemcpy(list, &here, sizeof here, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
#ifdef FIXED
    set_first<<<1, 1>>>(list);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(here.values));
#else
    CHECK(cudaFree(here.values));  // FREE
    set_first<<<1, 1>>>(list);
#endif
    return finish({list, other});
}
