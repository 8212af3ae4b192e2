#include "core/resource/guard/context_checker.hpp"

#include <algorithm>
#include <new>

/// The kernel's fat binary (check_regions_image.S).
extern "C" __attribute__((visibility("hidden"))) const unsigned char cuward_check_regions_image[];

namespace cuward::guard {
namespace {

constexpr std::size_t kChecksPerPin = 256;
constexpr unsigned kThreads = 256;
constexpr std::uint64_t kMostBlocks = 1024;
constexpr std::uint64_t kBytesPerThread = 64;

CUstream handle_of(StreamId stream) {
    return reinterpret_cast<CUstream>(static_cast<std::uint64_t>(stream));
}

unsigned blocks_for(std::span<const Region> regions) {
    std::uint64_t longest = 0;
    for (const Region& region : regions) {
        longest = std::max(longest, region.bytes);
    }
    return static_cast<unsigned>(
        std::clamp<std::uint64_t>(longest / (kThreads * kBytesPerThread), 1, kMostBlocks));
}

}  // namespace

tl::expected<std::shared_ptr<ContextChecker>, CUresult> ContextChecker::create(
    const DriverApi& driver) {
    std::shared_ptr<ContextChecker> checker(new ContextChecker(driver));
    const CUresult result = driver.stream_create(&checker->stream_, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS) {
        return tl::unexpected(result);
    }
    checker->load_kernel();
    return checker;
}

void ContextChecker::load_kernel() {
    load_result_ = driver_.module_load_data(&module_, cuward_check_regions_image);
    if (load_result_ == CUDA_SUCCESS) {
        load_result_ = driver_.module_get_function(&kernel_, module_, kCheckKernel);
    }
    if (load_result_ != CUDA_SUCCESS) {
        kernel_ = nullptr;
    }
}

StreamId ContextChecker::stream() const {
    return StreamId{reinterpret_cast<std::uint64_t>(stream_)};
}

CUresult ContextChecker::fill(Address address, std::size_t bytes, unsigned char value,
                              StreamId stream) {
    return bytes == 0 ? CUDA_SUCCESS
                      : driver_.memset_d8_async(address, value, bytes, handle_of(stream));
}

tl::expected<Check*, CUresult> ContextChecker::take_check() {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_checks_.empty()) {
            Check* const check = idle_checks_.back();
            idle_checks_.pop_back();
            return check;
        }
    }
    void* memory = nullptr;
    const CUresult result =
        driver_.mem_host_alloc(&memory, kChecksPerPin * sizeof(Check),
                               CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    if (result != CUDA_SUCCESS) {
        return tl::unexpected(result);
    }
    auto* const checks = new (memory) Check[kChecksPerPin];
    const std::lock_guard lock(mutex_);
    pinned_.push_back(memory);
    for (std::size_t i = 1; i < kChecksPerPin; ++i) {
        idle_checks_.push_back(checks + i);
    }
    return checks;
}

tl::expected<Check*, CUresult> ContextChecker::queue_check(std::span<const Region> regions,
                                                           StreamId stream) {
    if (!can_check()) {
        return tl::unexpected(load_result_);
    }
    const auto check = take_check();
    if (!check) {
        return check;
    }
    const CUresult result = launch(*check, regions, stream);
    if (result != CUDA_SUCCESS) {
        give_back(*check);
        return tl::unexpected(result);
    }
    return check;
}

/// Mapped host memory has the same address on the device (Driver API manual, "Unified Addressing").
CUresult ContextChecker::launch(Check* check, std::span<const Region> regions, StreamId stream) {
    std::copy(regions.begin(), regions.end(), check->regions.begin());
    check->first_bad.fill(kIntact);
    const Region* in = check->regions.data();
    std::uint64_t* out = check->first_bad.data();
    auto count = static_cast<std::uint32_t>(regions.size());
    std::array<void*, 3> parameters{static_cast<void*>(&in), static_cast<void*>(&out),
                                    static_cast<void*>(&count)};
    return driver_.launch_kernel(kernel_, blocks_for(regions), count, 1, kThreads, 1, 1, 0,
                                 handle_of(stream), parameters.data(), nullptr);
}

void ContextChecker::give_back(Check* check) {
    const std::lock_guard lock(mutex_);
    idle_checks_.push_back(check);
}

CUresult ContextChecker::wait() {
    return driver_.stream_synchronize(stream_);
}

tl::expected<CUevent, CUresult> ContextChecker::take_event() {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_events_.empty()) {
            CUevent event = idle_events_.back();
            idle_events_.pop_back();
            return event;
        }
    }
    CUevent event = nullptr;
    const CUresult result = driver_.event_create(&event, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS) {
        return tl::unexpected(result);
    }
    return event;
}

tl::expected<CUevent, CUresult> ContextChecker::record(StreamId stream) {
    const auto event = take_event();
    if (!event) {
        return event;
    }
    const CUresult result = driver_.event_record(*event, handle_of(stream));
    if (result != CUDA_SUCCESS) {
        give_back(*event);
        return tl::unexpected(result);
    }
    return event;
}

void ContextChecker::give_back(CUevent event) {
    const std::lock_guard lock(mutex_);
    idle_events_.push_back(event);
}

void ContextChecker::destroy() {
    for (CUevent event : idle_events_) {
        driver_.event_destroy(event);
    }
    for (void* memory : pinned_) {
        driver_.mem_free_host(memory);
    }
    if (module_ != nullptr) {
        driver_.module_unload(module_);
    }
    driver_.stream_destroy(stream_);
}

}  // namespace cuward::guard
