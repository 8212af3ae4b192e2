// What a call stack costs: found again by its words, against unwound anew.
#include <benchmark/benchmark.h>
#include <unwind.h>

#include <cstdint>

#include "core/log/log.hpp"
#include "core/stacks/stacks.hpp"

namespace cuward {
namespace {

template <typename Function>
__attribute__((noinline)) std::uint64_t at_depth(std::int64_t depth, const Function& function) {
    const std::uint64_t result = depth <= 1 ? function() : at_depth(depth - 1, function);
    asm volatile("" ::: "memory");  // no tail call
    return result;
}

void captured(benchmark::State& state) {
    Log log("");
    Stacks stacks(log);
    at_depth(state.range(0), [&] {
        std::uint64_t sum = 0;
        for (auto step : state) {
            sum += static_cast<std::uint64_t>(stacks.capture());
        }
        benchmark::DoNotOptimize(sum);
        return sum;
    });
}
BENCHMARK(captured)->Arg(4)->Arg(16)->Arg(48);

/// Places take turns, as in a program that launches from many lines.
void captured_alternating(benchmark::State& state) {
    Log log("");
    Stacks stacks(log);
    std::uint64_t sum = 0;
    const auto capture = [&] { return static_cast<std::uint64_t>(stacks.capture()); };
    for (auto step : state) {
        sum += at_depth(8, [&] {
            sum += at_depth(8, capture);
            sum += at_depth(8, capture);
            return at_depth(8, capture);
        });
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(3 * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(captured_alternating);

/// Of two call sites at each level, the bits of `path` choose one.
template <typename Function>
__attribute__((noinline)) std::uint64_t along(std::uint64_t path, int depth,
                                              const Function& function) {
    if (depth == 0) {
        return function();
    }
    const std::uint64_t bit = (path >> (depth % 16)) & 1;
    const std::uint64_t result =
        bit == 0 ? along(path, depth - 1, function) : along(path, depth - 1, function) + 1;
    asm volatile("" ::: "memory");  // no tail call
    return result;
}

/// As many different deep stacks in turn as a training step launches from; all must stay known.
void captured_training_step(benchmark::State& state) {
    Log log("");
    Stacks stacks(log);
    std::uint64_t sum = 0;
    const auto capture = [&] { return static_cast<std::uint64_t>(stacks.capture()); };
    for (auto step : state) {
        for (std::uint64_t path = 0; path < 600; ++path) {
            sum += along(path, 50, capture);
        }
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(600 * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(captured_training_step);

void unwound(benchmark::State& state) {
    at_depth(state.range(0), [&] {
        std::uint64_t frames = 0;
        for (auto step : state) {
            _Unwind_Backtrace(
                [](_Unwind_Context* context, void* count) {
                    benchmark::DoNotOptimize(_Unwind_GetIP(context));
                    ++*static_cast<std::uint64_t*>(count);
                    return _URC_NO_REASON;
                },
                &frames);
        }
        return frames;
    });
}
BENCHMARK(unwound)->Arg(4)->Arg(16)->Arg(48);

}  // namespace
}  // namespace cuward
