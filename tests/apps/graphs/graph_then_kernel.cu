// A graph's launch is an operation of its stream, which does what its nodes do: other streams have
// to wait for it.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));
    const Executable filling(writer, [&] {
        fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // CAPTURED
    });

    CHECK(cudaGraphLaunch(filling, writer));  // LAUNCH
#ifdef FIXED
    order(writer, reader);
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
