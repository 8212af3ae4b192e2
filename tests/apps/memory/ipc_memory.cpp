// What this process does with memory of another one is checked; it is never proven, as the others
// may order it.
#include <sys/wait.h>
#include <unistd.h>

#include "app.hpp"

namespace {

constexpr std::size_t kRow = 512;

template <typename T>
void send(int pipe, const T& value) {
    if (write(pipe, &value, sizeof value) != sizeof value) std::exit(1);
}

template <typename T>
T receive(int pipe) {
    T value{};
    if (read(pipe, &value, sizeof value) != sizeof value) std::exit(1);
    return value;
}

/// Shares a block until the other process says that it is done with it.
int share(int to_other, int from_other) {
    void* data;
    std::size_t pitch;
    CHECK(cudaMallocPitch(&data, &pitch, kRow, kBytes / kRow));
    cudaIpcMemHandle_t handle;
    CHECK(cudaIpcGetMemHandle(&handle, data));
    send(to_other, handle);
    receive<char>(from_other);
    CHECK(cudaFree(data));
    return 0;
}

int use(int to_other, int from_other) {
    const auto handle = receive<cudaIpcMemHandle_t>(from_other);
    void* data;
    CHECK(cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess));  // ALLOC
    {
        Stream first, second;
        CHECK(cudaMemsetAsync(data, 1, kBytes, first));  // FIRST
#ifdef FIXED
        order(first, second);
#endif
        CHECK(cudaMemsetAsync(data, 2, kBytes, second));  // SECOND
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaIpcCloseMemHandle(data));
    send(to_other, 'd');
    return 0;
}

}  // namespace

int main() {
    int to_child[2], to_parent[2];
    if (pipe(to_child) != 0 || pipe(to_parent) != 0) return 1;
    const pid_t child = fork();  // CUDA is not in use yet
    if (child == 0) return use(to_parent[1], to_child[0]);
    share(to_child[1], to_parent[0]);
    int status = 0;
    waitpid(child, &status, 0);
    std::puts(status == 0 ? "done" : "failed");
    return 0;
}
