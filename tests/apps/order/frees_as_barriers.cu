// Freeing pinned memory or an array, and ending a registration, wait for the device in practice
// only.
#include <cstdlib>

#include "app.hpp"
#include "kernels.hpp"

namespace {

float *data, *copy;

template <typename Barrier>
void race_around(Barrier barrier) {
    Stream writer, reader;
    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    barrier();
#ifdef FIXED
    order(writer, reader);
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, copy, kCount);  // SECOND
    CHECK(cudaDeviceSynchronize());
}

}  // namespace

int main() {
    float* pinned;
    cudaArray_t array;
    const cudaChannelFormatDesc channel{32, 0, 0, 0, cudaChannelFormatKindFloat};
    void* registered = std::aligned_alloc(4096, kBytes);
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&copy, kBytes));
    CHECK(cudaMallocHost(&pinned, kBytes));
    CHECK(cudaMallocArray(&array, &channel, 16, 16));
    CHECK(cudaHostRegister(registered, kBytes, 0));

    race_around([&] { CHECK(cudaFreeHost(pinned)); });
    race_around([&] { CHECK(cudaFreeArray(array)); });
    race_around([&] { CHECK(cudaHostUnregister(registered)); });
    std::free(registered);
    return finish({data, copy});
}
