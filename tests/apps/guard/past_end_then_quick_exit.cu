// Found at a synchronization if that is asked for; the program leaves without any end.
#include "app.hpp"
#include "guard/bytes.hpp"

int main() {
    constexpr int kSize = 1 << 16;
    char* data;
    CHECK(cudaMalloc(&data, kSize));
    write_bytes<<<4, 64>>>(data, 0, kSize + 1);  // USE
    CHECK(cudaDeviceSynchronize());
    std::puts("done");
    std::fflush(stdout);
    std::_Exit(0);
}
