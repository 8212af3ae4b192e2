// A stream callback that has run tells the host that the work before it is complete.
#include "app.hpp"
#include "kernels.hpp"
#include "signals.hpp"

void hold_back(void* data) {
    static_cast<Signals*>(data)->hold_back();
}
void signal(cudaStream_t, cudaError_t, void* data) {
    static_cast<Signals*>(data)->run();
}

int main() {
    Stream writer, reader;
    Signals signals;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    // Loading a kernel waits for the device, so it happens before a stream is held back.
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaLaunchHostFunc(writer, hold_back, &signals));
    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaStreamAddCallback(writer, signal, &signals, 0));
#ifdef FIXED
    signals.go_on_and_wait();
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    signals.may_go_on = true;
    const int status = finish({data, out});
    std::printf("%s\n", signals.has_run ? "it ran" : "it never ran");
    return status;
}
