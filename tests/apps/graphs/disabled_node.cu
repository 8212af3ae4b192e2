// A disabled node does nothing when its graph is launched.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "kernels.hpp"

int main() {
    Stream launching, filling;
    float* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const Executable adding(launching, [&] {
        add_one<<<kGrid, kThreads, 0, launching>>>(data, kCount);  // CAPTURED
    });

    fill<<<kGrid, kThreads, 0, filling>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaGraphNodeSetEnabled(adding, adding.node(), 0));
    CHECK(cudaGraphLaunch(adding, launching));
#ifndef FIXED
    CHECK(cudaGraphNodeSetEnabled(adding, adding.node(), 1));
    CHECK(cudaGraphLaunch(adding, launching));  // LAUNCH
#endif
    CHECK(cudaStreamSynchronize(launching));
    return finish({data});
}
