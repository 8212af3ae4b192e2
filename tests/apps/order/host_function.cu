// A host function is an operation of its stream: an event recorded after it covers what was before.
#include "app.hpp"
#include "kernels.hpp"

void count_up(void* counter) {
    ++*static_cast<int*>(counter);
}

int main() {
    Stream writer, reader;
    int calls = 0;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    CHECK(cudaLaunchHostFunc(writer, count_up, &calls));
#ifdef FIXED
    order(writer, reader);
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    const int status = finish({data, out});
    std::printf("%d call\n", calls);
    return status;
}
