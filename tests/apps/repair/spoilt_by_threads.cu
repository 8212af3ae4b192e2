// Two host threads add to one number, each on streams of its choice and with waits of its choice:
// an addition that does not come after all others is lost. FIXED: the threads take turns, and each
// addition waits for the one before.
#include <mutex>
#include <random>

#include "repair/slow.hpp"

__global__ void slow_increment(int* number) {
    const int before = *number;
    const long long begin = clock64();
    while (clock64() - begin < kSlowCycles / 20) {
    }
    *number = before + 1;
}
SIMGPU_TWIN(slow_increment, [](const simgpu::Launch&, int* number) {
    const int before = *number;
    std::this_thread::sleep_for(std::chrono::microseconds(25));
    *number = before + 1;
});

namespace {

constexpr int kAdditions = 40;  ///< of each thread

struct Turn {
    std::mutex mutex;
    cudaStream_t last = nullptr;
};

void add(int* number, cudaStream_t stream, Turn& turn) {
#ifdef FIXED
    const std::lock_guard lock(turn.mutex);
    if (stream != turn.last) order(turn.last, stream);
    turn.last = stream;
#else
    (void)turn;
#endif
    slow_increment<<<1, 1, 0, stream>>>(number);
}

bool is_right(int* number, const Stream (&blocking)[2], const Stream (&other)[2], unsigned seed) {
    CHECK(cudaMemset(number, 0, sizeof *number));
    CHECK(cudaDeviceSynchronize());
    const cudaStream_t streams[] = {nullptr, blocking[0], blocking[1], other[0], other[1]};
    Turn turn;
    const auto work = [&](unsigned thread) {
        std::minstd_rand random(2 * seed + thread + 1);
        const auto any = [&] { return streams[random() / 7 % 5]; };
        for (int i = 0; i < kAdditions; ++i) {
            add(number, any(), turn);
            if (const auto later = any(); random() / 7 % 2 == 0) order(any(), later);
        }
    };
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
    CHECK(cudaDeviceSynchronize());
    int sum = 0;
    CHECK(cudaMemcpy(&sum, number, sizeof sum, cudaMemcpyDeviceToHost));
    return sum == 2 * kAdditions;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    const Stream blocking[2]{Stream{cudaStreamDefault}, Stream{cudaStreamDefault}};
    const Stream other[2];
    int* number;
    CHECK(cudaMalloc(&number, sizeof *number));
    int right = 0;
    for (int i = 0; i < rounds; ++i) {
        right += is_right(number, blocking, other, static_cast<unsigned>(i)) ? 1 : 0;
    }
    CHECK(cudaFree(number));
    std::printf("threads: %d of %d right\n", right, rounds);
    return 0;
}
