// An executable graph that has been updated does what the other graph does, and no longer what its
// own did.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "kernels.hpp"

int main() {
    Stream launching, filling;
    float *data, *other;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&other, kBytes));
    const Executable adding(launching, [&] {
        add_one<<<kGrid, kThreads, 0, launching>>>(data, kCount);  // CAPTURED
    });
    const Executable elsewhere(launching,
                               [&] { add_one<<<kGrid, kThreads, 0, launching>>>(other, kCount); });

    fill<<<kGrid, kThreads, 0, filling>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    cudaGraphExecUpdateResultInfo result{};
    CHECK(cudaGraphExecUpdate(adding, elsewhere.graph(), &result));
#endif
    CHECK(cudaGraphLaunch(adding, launching));  // LAUNCH
    CHECK(cudaStreamSynchronize(launching));
    return finish({data, other});
}
