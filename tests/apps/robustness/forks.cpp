// Forks before and after CUDA is first used. Each process leaks one block of its own size.
#include <sys/wait.h>
#include <unistd.h>

#include "app.hpp"

int main() {
    const pid_t early = fork();
    if (early == 0) {
        void* lost;
        CHECK(cudaMalloc(&lost, 1000));  // CHILD
        return 0;
    }
    waitpid(early, nullptr, 0);

    void* lost;
    CHECK(cudaMalloc(&lost, 2000));  // PARENT
    // CUDA cannot be used in this child, but it may end like any process.
    const pid_t late = fork();
    if (late == 0) return 0;
    waitpid(late, nullptr, 0);
    std::puts("done");
    return 0;
}
