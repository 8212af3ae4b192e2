// The same race in a process, in a child forked before CUDA was used, and while a child forked
// after it ends.
// FIXED: each has its wait (order_if_fixed).
#include <sys/wait.h>
#include <unistd.h>

#include "repair/slow.hpp"

namespace {

bool is_right(cudaStream_t a, cudaStream_t b, float* data) {
    slow_fill<<<kGrid, kThreads, 0, a>>>(data, kCount, kFirst);
    order_if_fixed(a, b);
    add_one<<<kGrid, kThreads, 0, b>>>(data, kCount);
    CHECK(cudaDeviceSynchronize());
    float last = 0;
    CHECK(cudaMemcpy(&last, data + kCount - 1, sizeof last, cudaMemcpyDeviceToHost));
    return last == kFirst + 1;
}

void race(const char* name, int rounds) {
    Stream a, b;
    float* data;
    CHECK(cudaMalloc(&data, kBytes));
    int right = 0;
    for (int i = 0; i < rounds; ++i) right += is_right(a, b, data) ? 1 : 0;
    CHECK(cudaFree(data));
    std::printf("%s: %d of %d right\n", name, right, rounds);
    std::fflush(stdout);  // a child would print it again
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    const pid_t early = fork();
    if (early == 0) {
        race("child", rounds);
        return 0;
    }
    race("parent", rounds);
    const pid_t late = fork();  // CUDA cannot be used in this one
    if (late == 0) return 0;
    race("parent-again", rounds);
    int status = 0;
    for (pid_t child : {early, late}) {
        waitpid(child, &status, 0);
        if (status != 0) return 1;
    }
    return 0;
}
