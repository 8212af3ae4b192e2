// The tracker's share of one launch, without driver, callback and stack.
#include <benchmark/benchmark.h>

#include <array>

#include "core/log/log.hpp"
#include "core/tracker.hpp"

namespace cuward {
namespace {

constexpr StreamRef kStream{1, kLegacyStream};
constexpr Address kSegments = 0x7f0000000000;
constexpr std::uint64_t kSegmentBytes = 20U << 20;

struct Fixture {
    explicit Fixture(std::size_t segments) {
        for (std::size_t i = 0; i < segments; ++i) {
            tracker.allocated({.ptr = kSegments + i * kSegmentBytes,
                               .bytes = kSegmentBytes,
                               .context = 1,
                               .device = 0,
                               .stream = {},
                               .resource_block = {},
                               .site = {}});
        }
    }
    Log log{""};
    Tracker tracker{log};
};

/// `range(0)` pointers a launch, into `range(1)` different places of two large blocks, as a caching
/// allocator hands them out.
void launch(benchmark::State& state) {
    Fixture fixture(2);
    const auto pointers = static_cast<std::size_t>(state.range(0));
    const auto places = static_cast<std::uint64_t>(state.range(1));
    std::array<MemoryAccess, 8> accesses;
    PendingOperation pending;
    std::uint64_t next = 0;
    for (auto _ : state) {
        for (std::size_t i = 0; i < pointers; ++i) {
            const Address at = kSegments + (next++ % places) * 512 + (i % 2) * kSegmentBytes;
            accesses[i] = {ByteRange::linear(at, 0), Access::ReadWrite, true, false};
        }
        fixture.tracker.begin(
            {.api = "cuLaunchKernel", .stream = kStream, .accesses = {accesses.data(), pointers}},
            pending);
        fixture.tracker.end(pending, true);
    }
}
BENCHMARK(launch)->Args({0, 1})->Args({4, 4})->Args({4, 1000});

void synchronize(benchmark::State& state) {
    Fixture fixture(1);
    for (auto _ : state) {
        fixture.tracker.host_knows(fixture.tracker.work_of_stream(kStream), Edge::Documented);
    }
}
BENCHMARK(synchronize);

}  // namespace
}  // namespace cuward
