// An event created after another was destroyed has no record, even at the same handle.
#include <optional>

#include "app.hpp"
#include "kernels.hpp"

int main() {
    Stream writer, reader;
    float *data, *out;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&out, kBytes));

    fill<<<kGrid, kThreads, 0, writer>>>(data, kCount, 1.0F);  // FIRST
    std::optional<Event> written(std::in_place);
    CHECK(cudaEventRecord(*written, writer));
#ifndef FIXED
    written.emplace();
#endif
    CHECK(cudaStreamWaitEvent(reader, *written, 0));
    copy_all<<<kGrid, kThreads, 0, reader>>>(data, out, kCount);  // SECOND
    return finish({data, out});
}
