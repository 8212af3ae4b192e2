// Races between the streams of two devices, and races on both at once, each from its own thread.
// FIXED: each has its wait (order_if_fixed).
#include <functional>
#include <vector>

#include "repair/slow.hpp"

namespace {

/// Memory and streams of a device.
struct Device {
    int ordinal;
    cudaStream_t a, b;
    float *data, *out;

    explicit Device(int number) : ordinal(number) {
        CHECK(cudaSetDevice(ordinal));
        for (cudaStream_t* each : {&a, &b}) {
            CHECK(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking));
        }
        for (float** each : {&data, &out}) CHECK(cudaMalloc(each, kBytes));
    }
    ~Device() {
        CHECK(cudaSetDevice(ordinal));
        for (float* each : {data, out}) CHECK(cudaFree(each));
        for (cudaStream_t each : {a, b}) CHECK(cudaStreamDestroy(each));
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    void reset() const {
        CHECK(cudaSetDevice(ordinal));
        for (float* each : {data, out}) CHECK(cudaMemsetAsync(each, 0, kBytes, a));
        CHECK(cudaDeviceSynchronize());
    }
    void write_slowly(cudaStream_t reader) const {
        CHECK(cudaSetDevice(ordinal));
        slow_fill<<<kGrid, kThreads, 0, a>>>(data, kCount, kFirst);
        order_if_fixed(a, reader);
    }
    bool has_read() const {
        CHECK(cudaSetDevice(ordinal));
        CHECK(cudaDeviceSynchronize());
        std::vector<float> result(kCount);
        CHECK(cudaMemcpy(result.data(), out, kBytes, cudaMemcpyDeviceToHost));
        return std::all_of(result.begin(), result.end(), [](float each) { return each == kFirst; });
    }
};

bool copy_from_other(const Device& left, const Device& right) {
    left.write_slowly(right.b);
    CHECK(cudaSetDevice(right.ordinal));
    CHECK(cudaMemcpyPeerAsync(right.out, right.ordinal, left.data, left.ordinal, kBytes, right.b));
    return right.has_read();
}

bool kernel_reads_other(const Device& left, const Device& right) {
    left.write_slowly(right.b);
    CHECK(cudaSetDevice(right.ordinal));
    copy_all<<<kGrid, kThreads, 0, right.b>>>(left.data, right.out, kCount);
    return right.has_read();
}

bool both_at_once(const Device& left, const Device& right) {
    const auto race = [](const Device& device, bool& is_right) {
        device.write_slowly(device.b);
        copy_all<<<kGrid, kThreads, 0, device.b>>>(device.data, device.out, kCount);
        is_right = device.has_read();
    };
    bool left_is_right = false, right_is_right = false;
    std::thread other(race, std::cref(left), std::ref(left_is_right));
    race(right, right_is_right);
    other.join();
    return left_is_right && right_is_right;
}

struct Race {
    const char* name;
    bool (*is_right)(const Device&, const Device&);
};

constexpr Race kRaces[] = {{"copy-from-other", copy_from_other},
                           {"kernel-reads-other", kernel_reads_other},
                           {"both-at-once", both_at_once}};

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    const Device left(0), right(1);
    CHECK(cudaDeviceEnablePeerAccess(left.ordinal, 0));
    for (const Race& race : kRaces) {
        int right_results = 0;
        for (int i = 0; i < rounds; ++i) {
            left.reset();
            right.reset();
            right_results += race.is_right(left, right) ? 1 : 0;
        }
        std::printf("%s: %d of %d right\n", race.name, right_results, rounds);
    }
    return 0;
}
