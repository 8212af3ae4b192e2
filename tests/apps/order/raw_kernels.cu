// Two non-blocking streams are unordered: a kernel that reads must wait for the one that writes.
#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
#ifdef FIXED
    order(writer, reader);
#endif
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
