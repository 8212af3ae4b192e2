// Reading what was freed, or never written, gives nonsense and harms nothing: only writes leave
// traces.
#include "app.hpp"
#include "tests/simgpu/twin.hpp"

struct List {
    int* values;
};

__global__ void read_first(const List* list, int* out) {
    *out = list->values[0];
}
SIMGPU_TWIN(read_first,
            [](const simgpu::Launch&, const List* list, int* out) { *out = list->values[0]; });

int main() {
    List here{}, *list;
    int *other, *out;
    CHECK(cudaMalloc(&list, sizeof *list));
    CHECK(cudaMalloc(&out, sizeof *out));
    CHECK(cudaMalloc(&here.values, 4096));
    CHECK(cudaMalloc(&other, 4096));
    CHECK(cudaMemcpy(list, &here, sizeof here, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    read_first<<<1, 1>>>(list, out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(here.values));
    read_first<<<1, 1>>>(list, out);
    return finish({list, other, out});
}
