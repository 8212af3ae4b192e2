// What a capture has drawn in from other streams runs where the graph is launched: those streams
// know nothing of it.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "kernels.hpp"

int main() {
    Stream launching, side;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));
    CHECK(cudaMalloc(&out, kBytes));  // ALLOC
    const Executable forked(launching, [&] {
        fill<<<kGrid, kThreads, 0, launching>>>(data, kCount, 1.0F);
        order(launching, side);
        copy_all<<<kGrid, kThreads, 0, side>>>(data, out, kCount);  // CAPTURED
        order(side, launching);
    });

    CHECK(cudaGraphLaunch(forked, launching));
    CHECK(cudaGraphLaunch(forked, launching));  // LAUNCH
#ifdef FIXED
    order(launching, side);
#endif
    add_one<<<kGrid, kThreads, 0, side>>>(out, kCount);  // SECOND
    return finish({data, out});
}
