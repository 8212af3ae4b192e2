// Races that show in the result: each round the earlier work is slow, and the later one must wait.
// FIXED: each has its wait (order_if_fixed).
#include "graphs/executable.hpp"
#include "repair/slow.hpp"

namespace {

/// Memory and streams of one run; before each round all of `data` is 0 and nothing is in flight.
struct Round {
    Stream a, b;
    float *data, *out, *managed, *pinned, *result;

    Round() {
        CHECK(cudaMalloc(&data, kBytes));
        CHECK(cudaMalloc(&out, kBytes));
        CHECK(cudaMallocManaged(&managed, kBytes));
        CHECK(cudaMallocHost(&pinned, kBytes));
        CHECK(cudaMallocHost(&result, kBytes));
    }
    ~Round() {
        for (float* block : {data, out, managed}) CHECK(cudaFree(block));
        for (float* block : {pinned, result}) CHECK(cudaFreeHost(block));
    }
    Round(const Round&) = delete;
    Round& operator=(const Round&) = delete;

    void reset() {
        std::fill_n(pinned, kCount, kFirst);
        for (float* block : {data, out, managed}) CHECK(cudaMemsetAsync(block, 0, kBytes, a));
        CHECK(cudaDeviceSynchronize());
    }
    void write_slowly(float* block, cudaStream_t stream, float value = kFirst) {
        slow_fill<<<kGrid, kThreads, 0, stream>>>(block, kCount, value);
    }
    void read(const float* block, cudaStream_t stream) {
        copy_all<<<kGrid, kThreads, 0, stream>>>(block, out, kCount);
    }
    /// Whether every element has the value, once all work is done.
    bool holds(const float* block, float value) {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(result, block, kBytes, cudaMemcpyDefault));
        return std::all_of(result, result + kCount, [&](float each) { return each == value; });
    }
};

bool copy_then_kernel(Round& round) {
    round.write_slowly(round.managed, round.a);  // holds the copy back
    CHECK(cudaMemcpyAsync(round.data, round.pinned, kBytes, cudaMemcpyHostToDevice, round.a));
    order_if_fixed(round.a, round.b);
    round.read(round.data, round.b);
    return round.holds(round.out, kFirst);
}

bool kernel_after_kernel(Round& round) {
    round.write_slowly(round.data, round.a);
    order_if_fixed(round.a, round.b);
    fill<<<kGrid, kThreads, 0, round.b>>>(round.data, kCount, kSecond);
    return round.holds(round.data, kSecond);
}

bool copy_over_input(Round& round) {
    slow_copy<<<kGrid, kThreads, 0, round.a>>>(round.data, round.out, kCount);
    order_if_fixed(round.a, round.b);
    CHECK(cudaMemcpyAsync(round.data, round.pinned, kBytes, cudaMemcpyHostToDevice, round.b));
    return round.holds(round.out, 0);
}

bool pinned_reused(Round& round) {
    round.write_slowly(round.out, round.a);
    CHECK(cudaMemcpyAsync(round.data, round.pinned, kBytes, cudaMemcpyHostToDevice, round.a));
    order_if_fixed(round.a, round.b);
    CHECK(cudaMemcpyAsync(round.pinned, round.managed, kBytes, cudaMemcpyDefault, round.b));
    return round.holds(round.data, kFirst);
}

bool managed(Round& round) {
    round.write_slowly(round.managed, round.a);
    order_if_fixed(round.a, round.b);
    round.read(round.managed, round.b);
    return round.holds(round.out, kFirst);
}

bool pool(Round& round) {
    float* block;
    CHECK(cudaMallocAsync(&block, kBytes, round.a));
    round.write_slowly(block, round.a);
    order_if_fixed(round.a, round.b);
    round.read(block, round.b);
    order(round.b, round.a);
    fill<<<kGrid, kThreads, 0, round.a>>>(block, kCount, kSecond);  // the next round may get it
    CHECK(cudaFreeAsync(block, round.a));
    return round.holds(round.out, kFirst);
}

/// The pool gives the second block the memory of the first, which is still being written.
bool used_before_allocation(Round& round) {
    float *first, *second;
    CHECK(cudaMallocAsync(&first, kBytes, round.a));
    round.write_slowly(first, round.a);
    CHECK(cudaFreeAsync(first, round.a));
    CHECK(cudaMallocAsync(&second, kBytes, round.a));
    order_if_fixed(round.a, round.b);
    fill<<<kGrid, kThreads, 0, round.b>>>(second, kCount, kSecond);
    const bool right = round.holds(second, kSecond);
    CHECK(cudaFreeAsync(second, round.a));
    return right;
}

/// The pool gives the second block the memory of the first, which is still being read.
bool freed_on_other_stream(Round& round) {
    float *first, *second;
    CHECK(cudaMallocAsync(&first, kBytes, round.b));
    fill<<<kGrid, kThreads, 0, round.b>>>(first, kCount, kFirst);
    order(round.b, round.a);
    slow_copy<<<kGrid, kThreads, 0, round.a>>>(first, round.out, kCount);
    order_if_fixed(round.a, round.b);
    CHECK(cudaFreeAsync(first, round.b));
    CHECK(cudaMallocAsync(&second, kBytes, round.b));
    fill<<<kGrid, kThreads, 0, round.b>>>(second, kCount, kSecond);
    CHECK(cudaFreeAsync(second, round.b));
    return round.holds(round.out, kFirst);
}

bool destroyed_stream(Round& round) {
    {
        Stream writer;
        round.write_slowly(round.data, writer);
        order_if_fixed(writer, round.b);
    }
    round.read(round.data, round.b);
    return round.holds(round.out, kFirst);
}

bool default_stream(Round& round) {
    round.write_slowly(round.data, nullptr);
    order_if_fixed(nullptr, round.b);
    round.read(round.data, round.b);
    return round.holds(round.out, kFirst);
}

bool two_threads(Round& round) {
    std::thread([&] { round.write_slowly(round.data, round.a); }).join();
    order_if_fixed(round.a, round.b);
    std::thread([&] { round.read(round.data, round.b); }).join();
    return round.holds(round.out, kFirst);
}

/// A stream is captured while others race, one of them from another thread; the graph then comes
/// after them.
bool capture_under_way(Round& round) {
    Stream captured;
    const Executable adding(captured, [&] {
        add_one<<<kGrid, kThreads, 0, captured>>>(round.data, kCount);
        round.write_slowly(round.data, round.a);
        order_if_fixed(round.a, round.b);
        std::thread([&] {
            fill<<<kGrid, kThreads, 0, round.b>>>(round.data, kCount, kSecond);
        }).join();
    });
    order_if_fixed(round.b, captured);
    CHECK(cudaGraphLaunch(adding, captured));
    return round.holds(round.data, kSecond + 1);
}

struct Race {
    const char* name;
    bool (*is_right)(Round&);
};

constexpr Race kRaces[] = {{"copy-then-kernel", copy_then_kernel},
                           {"kernel-after-kernel", kernel_after_kernel},
                           {"copy-over-input", copy_over_input},
                           {"pinned-reused", pinned_reused},
                           {"managed", managed},
                           {"pool", pool},
                           {"used-before-allocation", used_before_allocation},
                           {"freed-on-other-stream", freed_on_other_stream},
                           {"destroyed-stream", destroyed_stream},
                           {"default-stream", default_stream},
                           {"two-threads", two_threads},
                           {"capture-under-way", capture_under_way}};

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    Round round;
    for (const Race& race : kRaces) {
        int right = 0;
        for (int i = 0; i < rounds; ++i) {
            round.reset();
            right += race.is_right(round) ? 1 : 0;
        }
        std::printf("%s: %d of %d right\n", race.name, right, rounds);
    }
    return 0;
}
