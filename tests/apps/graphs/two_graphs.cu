// Two graphs on two streams are ordered like any other work; the launches of one come after each
// other by themselves.
#include "app.hpp"
#include "graphs/executable.hpp"
#include "kernels.hpp"

int main() {
    Stream left, right;
    float* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const Executable filling(left, [&] {
        fill<<<kGrid, kThreads, 0, left>>>(data, kCount, 1.0F);  // FILL
    });
    const Executable adding(right, [&] {
        add_one<<<kGrid, kThreads, 0, right>>>(data, kCount);  // ADD
    });

    CHECK(cudaGraphLaunch(filling, left));
    CHECK(cudaGraphLaunch(filling, right));
    CHECK(cudaGraphLaunch(filling, left));  // FIRST
#ifdef FIXED
    order(left, right);
#endif
    CHECK(cudaGraphLaunch(adding, right));  // SECOND
    return finish({data});
}
