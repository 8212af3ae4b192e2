// What a capture has drawn in from other streams runs where the graph is launched: those streams
// know nothing of it.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "kernels.hpp"

int main() {
    Stream launching, side;
    Event filled, copied;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));
    CHECK(cudaMalloc(&out, kBytes));  // ALLOC
    const Executable forked(launching, [&] {
        fill<<<kGrid, kThreads, 0, launching>>>(data, kCount, 1.0F);
        CHECK(cudaEventRecord(filled, launching));
        CHECK(cudaStreamWaitEvent(side, filled, 0));
        copy_all<<<kGrid, kThreads, 0, side>>>(data, out, kCount);  // CAPTURED
        CHECK(cudaEventRecord(copied, side));
        CHECK(cudaStreamWaitEvent(launching, copied, 0));
    });

    CHECK(cudaGraphLaunch(forked, launching));
    CHECK(cudaGraphLaunch(forked, launching));  // LAUNCH
#ifdef FIXED
    order(launching, side);
#endif
    add_one<<<kGrid, kThreads, 0, side>>>(out, kCount);  // SECOND
    return finish({data, out});
}
