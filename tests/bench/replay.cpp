// Makes the allocations and frees of a recorded program again, without its work, and prints
// nanoseconds for one allocation and its free.
//
//   cuward_replay driver|direct|async TRACE [ROUNDS]
//
// A line of a trace is "+ BLOCK BYTES" or "- BLOCK". What is left allocated at its end is freed
// between rounds, outside the measurement.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/resource/async_cuda_resource.hpp"
#include "core/resource/direct_cuda_resource.hpp"

namespace cuward {
namespace {

void check(CUresult result, const char* what) {
    if (result != CUDA_SUCCESS) {
        throw std::runtime_error(std::string(what) + ": error " + std::to_string(result));
    }
}

struct Step {
    std::size_t slot;   ///< of the block, from 0
    std::size_t bytes;  ///< 0: it is freed
};

struct Trace {
    std::vector<Step> steps;
    std::size_t blocks = 0;
};

Trace read_trace(const char* path) {
    std::ifstream file(path);
    Trace trace;
    std::unordered_map<std::uint64_t, std::size_t> slots;
    std::uint64_t block = 0;
    for (char sign = 0; file >> sign >> block;) {
        std::size_t bytes = 0;
        if (sign == '+' && !(file >> bytes)) {
            break;
        }
        const std::size_t slot = slots.try_emplace(block, slots.size()).first->second;
        trace.steps.push_back({.slot = slot, .bytes = bytes});
    }
    if (trace.steps.empty() || !file.eof()) {
        throw std::runtime_error(std::string(path) + " is no trace");
    }
    trace.blocks = slots.size();
    return trace;
}

/// A program with one busy stream: every free has something to wait for.
class OneBusyStream final : public UseOrder {
  public:
    OneBusyStream(StreamId stream, ContextId context)
        : work_{.stream = stream, .context = context, .lane = 1} {}

    UsePoint point(StreamId stream) override {
        return {.stream = stream, .lane = static_cast<std::uint64_t>(stream)};
    }
    bool provided(const UsePoint& /*earlier*/, const UsePoint& /*later*/) override { return true; }
    void for_each_unfinished(const std::function<void(const UsePoint&)>& visit) override {
        visit(work_);
    }
    bool observes_only() const override { return true; }

  private:
    UsePoint work_;
};

class Contender {
  public:
    virtual ~Contender() = default;
    virtual void allocate(std::size_t slot, std::size_t bytes) = 0;
    virtual void free(std::size_t slot) = 0;
};

class Driver final : public Contender {
  public:
    Driver(const DriverApi& driver, std::size_t blocks) : driver_(driver), blocks_(blocks) {}
    void allocate(std::size_t slot, std::size_t bytes) override {
        check(driver_.mem_alloc(&blocks_[slot], bytes), "cuMemAlloc");
    }
    void free(std::size_t slot) override { check(driver_.mem_free(blocks_[slot]), "cuMemFree"); }

  private:
    const DriverApi& driver_;
    std::vector<CUdeviceptr> blocks_;
};

class Resource final : public Contender {
  public:
    Resource(std::unique_ptr<DeviceMemoryResource> resource, std::size_t blocks)
        : resource_(std::move(resource)), blocks_(blocks) {}
    void allocate(std::size_t slot, std::size_t bytes) override {
        const auto block = resource_->allocate(bytes, kNoStream, AllocTag{});
        check(block ? CUDA_SUCCESS : static_cast<CUresult>(block.error().driver_result),
              "allocate");
        blocks_[slot] = *block;
    }
    void free(std::size_t slot) override {
        check(
            resource_->deallocate_synchronously(blocks_[slot]) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN,
            "deallocate");
    }

  private:
    std::unique_ptr<DeviceMemoryResource> resource_;
    std::vector<DeviceBlock> blocks_;
};

/// Nanoseconds of one round.
double play(const Trace& trace, Contender& contender) {
    std::vector<bool> live(trace.blocks);
    const auto begin = std::chrono::steady_clock::now();
    for (const Step& step : trace.steps) {
        if (step.bytes > 0) {
            contender.allocate(step.slot, step.bytes);
        } else {
            contender.free(step.slot);
        }
        live[step.slot] = step.bytes > 0;
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    for (std::size_t slot = 0; slot < trace.blocks; ++slot) {
        if (live[slot]) {
            contender.free(slot);
        }
    }
    return took.count();
}

DriverApi load_driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) {
        throw std::runtime_error("there is no libcuda.so.1");
    }
    const LoadedDriver loaded =
        load_driver_api([&](const char* name) { return dlsym(library, name); });
    if (!loaded.missing.empty()) {
        throw std::runtime_error("the driver is too old");
    }
    const auto function = [&](auto* signature, const char* name) {
        return reinterpret_cast<decltype(signature)>(dlsym(library, name));
    };
    CUcontext context = nullptr;
    check(function(&::cuInit, "cuInit")(0), "cuInit");
    check(function(&::cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")(&context, 0),
          "cuDevicePrimaryCtxRetain");
    check(function(&::cuCtxSetCurrent, "cuCtxSetCurrent")(context), "cuCtxSetCurrent");
    return loaded.api;
}

void run(const std::string& name, const char* trace_path, int rounds) {
    const Trace trace = read_trace(trace_path);
    const DriverApi driver = load_driver();
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    check(driver.ctx_get_current(&context), "cuCtxGetCurrent");
    check(driver.stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    OneBusyStream order(StreamId{reinterpret_cast<std::uint64_t>(stream)},
                        reinterpret_cast<ContextId>(context));
    const CudaDevice device(driver, &order);

    std::unique_ptr<Contender> contender;
    if (name == "driver") {
        contender = std::make_unique<Driver>(driver, trace.blocks);
    } else if (name == "direct") {
        contender = std::make_unique<Resource>(std::make_unique<DirectCudaResource>(device, 0),
                                               trace.blocks);
    } else if (name == "async") {
        contender = std::make_unique<Resource>(std::make_unique<AsyncCudaResource>(device, 0),
                                               trace.blocks);
    } else {
        throw std::runtime_error("no contender is called " + name);
    }
    play(trace, *contender);  // what is used first is made first
    std::vector<double> taken(static_cast<std::size_t>(rounds));
    std::generate(taken.begin(), taken.end(), [&] { return play(trace, *contender); });
    std::nth_element(taken.begin(), taken.begin() + rounds / 2, taken.end());
    const auto is_allocation = [](const Step& step) { return step.bytes > 0; };
    const auto allocations = std::count_if(trace.steps.begin(), trace.steps.end(), is_allocation);
    std::printf("%.1f\n",
                taken[static_cast<std::size_t>(rounds / 2)] / static_cast<double>(allocations));
}

}  // namespace
}  // namespace cuward

int main(int argc, char** argv) {
    const int rounds = argc == 4 ? std::atoi(argv[3]) : 5;
    if (argc < 3 || argc > 4 || rounds < 1) {
        std::fprintf(stderr, "usage: cuward_replay driver|direct|async TRACE [ROUNDS]\n");
        return 2;
    }
    try {
        cuward::run(argv[1], argv[2], rounds);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cuward_replay: %s\n", error.what());
        return 1;
    }
}
