#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/resource/guard/region.hpp"
#include "tests/unit/scripted_driver.hpp"

namespace cuward::testing {
namespace {

ScriptedDriver* current_driver = nullptr;

template <typename... Values>
std::string format(const char* pattern, Values... values) {
    std::array<char, 64> text{};
    (void)std::snprintf(text.data(), text.size(), pattern, values...);
    return text.data();
}

std::string name_of(CUstream stream) {
    const auto value = reinterpret_cast<std::uintptr_t>(stream);
    if (StreamId{value} == kLegacyStream) {
        return "legacy";
    }
    return StreamId{value} == kPerThreadStream ? "per-thread" : format("s%zu", value);
}

std::string name_of(CUevent event) {
    return format("e%zu", reinterpret_cast<std::uintptr_t>(event));
}

std::string name_of(Address address) {
    return format("0x%llx", (unsigned long long)address);
}

}  // namespace

/// The driver functions themselves.
struct ScriptedFunctions {
    static ScriptedDriver& self() { return *current_driver; }

    template <typename Effect>
    static CUresult call(const char* function, const std::string& arguments, Effect effect) {
        const CUresult failure = self().begin(function, arguments);
        if (failure != CUDA_SUCCESS) {
            return failure;
        }
        const std::lock_guard lock(self().mutex_);
        return effect(self());
    }

    static CUresult allocate(ScriptedDriver& driver, CUdeviceptr* address, std::size_t bytes,
                             bool in_pool = false) {
        std::size_t& from =
            in_pool && driver.pool_unused_ >= bytes ? driver.pool_unused_ : driver.free_bytes_;
        if (from < bytes) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        from -= bytes;
        driver.pool_reserved_ += in_pool && &from == &driver.free_bytes_ ? bytes : 0;
        *address = driver.next_address_;
        driver.next_address_ += (bytes + 511) / 512 * 512;
        driver.expect(
            driver.allocations_
                .try_emplace(*address,
                             ScriptedDriver::Memory{
                                 .bytes = bytes, .in_pool = in_pool, .context = driver.current()})
                .second);
        return CUDA_SUCCESS;
    }
    static CUresult release(ScriptedDriver& driver, CUdeviceptr address,
                            CUstream stream = nullptr) {
        const auto freed = driver.allocations_.extract(address);
        driver.expect(!freed.empty());
        if (freed.empty()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const std::size_t bytes = freed.mapped().bytes;
        const bool in_pool = freed.mapped().in_pool;
        std::size_t& to = !in_pool            ? driver.free_bytes_
                          : stream == nullptr ? driver.pool_unused_
                                              : driver.queued_frees_[key(stream)];
        to += bytes;
        return CUDA_SUCCESS;
    }
    template <typename Handle>
    static std::uintptr_t key(Handle handle) {
        return reinterpret_cast<std::uintptr_t>(handle);
    }
    static void expect_live(ScriptedDriver& driver, CUevent event) {
        driver.expect(driver.events_.contains(reinterpret_cast<std::uintptr_t>(event)));
    }

    static CUresult CUDAAPI device_get(CUdevice* device, int ordinal) {
        return call("cuDeviceGet", format("%d", ordinal), [&](ScriptedDriver&) {
            *device = ordinal;
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI device_get_attribute(int* value, CUdevice_attribute attribute,
                                                 CUdevice device) {
        const bool pools = attribute == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
        return call("cuDeviceGetAttribute",
                    (pools ? "pools" : format("%d", attribute)) + format(", %d", device),
                    [&](const ScriptedDriver& driver) {
                        *value = pools && driver.pools_supported_ ? 1 : 0;
                        return CUDA_SUCCESS;
                    });
    }
    static CUresult CUDAAPI ctx_get_current(CUcontext* context) {
        return call("cuCtxGetCurrent", "", [&](const ScriptedDriver& driver) {
            *context = reinterpret_cast<CUcontext>(driver.current());
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI ctx_push_current(CUcontext context) {
        const auto id = reinterpret_cast<ContextId>(context);
        return call("cuCtxPushCurrent", name_of(id), [&](ScriptedDriver& driver) {
            driver.expect(id != 0);
            driver.pushed_.push_back(id);
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI ctx_pop_current(CUcontext* context) {
        return call("cuCtxPopCurrent", "", [&](ScriptedDriver& driver) {
            driver.expect(!driver.pushed_.empty());
            *context = reinterpret_cast<CUcontext>(driver.pushed_.back());
            driver.pushed_.pop_back();
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI ctx_synchronize() {
        return call("cuCtxSynchronize", "", [](ScriptedDriver& driver) {
            for (const auto& [event, context] : driver.events_) {
                driver.complete_.insert(event);
            }
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI mem_host_alloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
        return call("cuMemHostAlloc", format("%zu", bytes), [&](ScriptedDriver& driver) {
            *memory = std::malloc(bytes);  // NOLINT(cppcoreguidelines-no-malloc)
            driver.host_memory_[*memory] = driver.current();
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI mem_free_host(void* memory) {
        return call("cuMemFreeHost", "", [&](ScriptedDriver& driver) {
            driver.expect(driver.host_memory_.erase(memory) == 1);
            std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI memset_d8_async(CUdeviceptr address, unsigned char value,
                                            std::size_t bytes, CUstream stream) {
        return call(
            "cuMemsetD8Async",
            name_of(Address{address}) + format(", %d, %zu, ", value, bytes) + name_of(stream),
            [&](ScriptedDriver& driver) {
                set(driver, address, bytes, value);
                return CUDA_SUCCESS;
            });
    }
    static void set(ScriptedDriver& driver, Address address, std::size_t bytes,
                    unsigned char value) {
        ScriptedDriver::Memory* const memory = driver.memory_around(address, bytes);
        driver.expect(memory != nullptr);
        if (memory == nullptr) {
            return;
        }
        auto& contents = memory->contents;
        const unsigned char after = byte_of(*memory, address + bytes);
        contents.erase(contents.lower_bound(address), contents.lower_bound(address + bytes));
        contents[address] = value;
        contents.try_emplace(address + bytes, after);
    }
    static unsigned char byte_of(const ScriptedDriver::Memory& memory, Address address) {
        const auto next = memory.contents.upper_bound(address);
        return next == memory.contents.begin() ? 0 : std::prev(next)->second;
    }
    static CUresult CUDAAPI module_load_data(CUmodule* module, const void* /*image*/) {
        return call("cuModuleLoadData", "", [&](ScriptedDriver& driver) {
            *module = reinterpret_cast<CUmodule>(++driver.last_module_);
            driver.modules_[driver.last_module_] = driver.current();
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI module_get_function(CUfunction* function, CUmodule module,
                                                const char* name) {
        return call("cuModuleGetFunction", name, [&](ScriptedDriver& driver) {
            driver.expect(driver.modules_.contains(key(module)));
            *function = reinterpret_cast<CUfunction>(module);
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI module_unload(CUmodule module) {
        return call("cuModuleUnload", "", [&](ScriptedDriver& driver) {
            driver.expect(driver.modules_.erase(key(module)) == 1);
            return CUDA_SUCCESS;
        });
    }
    /// The only kernel there is checks regions, at once.
    static CUresult CUDAAPI launch_kernel(CUfunction function, unsigned /*grid_x*/,
                                          unsigned /*grid_y*/, unsigned /*grid_z*/,
                                          unsigned /*block_x*/, unsigned /*block_y*/,
                                          unsigned /*block_z*/, unsigned /*shared_bytes*/,
                                          CUstream stream, void** parameters, void** /*extra*/) {
        const auto* regions = *static_cast<const guard::Region**>(parameters[0]);
        auto* first_bad = *static_cast<std::uint64_t**>(parameters[1]);
        const auto count = *static_cast<const std::uint32_t*>(parameters[2]);
        return call("cuLaunchKernel", format("%u regions, ", count) + name_of(stream),
                    [&](ScriptedDriver& driver) {
                        driver.expect(driver.modules_.contains(key(function)));
                        for (std::uint32_t i = 0; i < count; ++i) {
                            first_bad[i] = std::min(first_bad[i], check(driver, regions[i]));
                        }
                        return CUDA_SUCCESS;
                    });
    }
    static std::uint64_t check(ScriptedDriver& driver, const guard::Region& region) {
        const auto* memory = driver.memory_around(region.address, region.bytes);
        driver.expect(memory != nullptr);
        if (memory == nullptr) {
            return guard::kIntact;
        }
        // Only where the contents change can the first wrong byte be.
        const Address end = region.address + region.bytes;
        Address at = region.address;
        while (at < end && byte_of(*memory, at) == region.pattern) {
            const auto next = memory->contents.upper_bound(at);
            at = next == memory->contents.end() ? end : next->first;
        }
        return at < end ? at - region.address : guard::kIntact;
    }
    static CUresult CUDAAPI stream_get_ctx(CUstream stream, CUcontext* context) {
        return call("cuStreamGetCtx", name_of(stream), [&](const ScriptedDriver& driver) {
            const auto found =
                driver.stream_contexts_.find(StreamId{reinterpret_cast<std::uintptr_t>(stream)});
            *context = reinterpret_cast<CUcontext>(
                found == driver.stream_contexts_.end() ? kContext : found->second);
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI stream_create(CUstream* stream, unsigned flags) {
        return call("cuStreamCreate", "", [&](ScriptedDriver& driver) {
            driver.expect(flags == CU_STREAM_NON_BLOCKING);
            *stream = reinterpret_cast<CUstream>(++driver.last_stream_);
            driver.streams_[driver.last_stream_] = driver.current();
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI stream_destroy(CUstream stream) {
        return call("cuStreamDestroy", name_of(stream), [&](ScriptedDriver& driver) {
            driver.expect(driver.streams_.erase(key(stream)) == 1);
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI stream_synchronize(CUstream stream) {
        return call("cuStreamSynchronize", name_of(stream), [&](ScriptedDriver& driver) {
            driver.pool_unused_ += std::exchange(driver.queued_frees_[key(stream)], 0);
            for (const auto& [event, recorded_on] : driver.recorded_on_) {
                if (recorded_on == key(stream)) {
                    driver.complete_.insert(event);
                }
            }
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI stream_wait_event(CUstream stream, CUevent event, unsigned flags) {
        return call("cuStreamWaitEvent", name_of(stream) + ", " + name_of(event),
                    [&](ScriptedDriver& driver) {
                        expect_live(driver, event);
                        driver.expect(flags == 0);
                        return CUDA_SUCCESS;
                    });
    }
    static CUresult CUDAAPI event_create(CUevent* event, unsigned flags) {
        return call("cuEventCreate", "", [&](ScriptedDriver& driver) {
            driver.expect(flags == CU_EVENT_DISABLE_TIMING);
            *event = reinterpret_cast<CUevent>(++driver.last_event_);
            driver.events_[driver.last_event_] = driver.current();
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI event_record(CUevent event, CUstream stream) {
        return call("cuEventRecord", name_of(event) + ", " + name_of(stream),
                    [&](ScriptedDriver& driver) {
                        expect_live(driver, event);
                        driver.complete_.erase(key(event));
                        driver.recorded_on_[key(event)] = key(stream);
                        return CUDA_SUCCESS;
                    });
    }
    static CUresult CUDAAPI event_query(CUevent event) {
        return call("cuEventQuery", name_of(event), [&](ScriptedDriver& driver) {
            expect_live(driver, event);
            const bool complete =
                driver.everything_complete_ ||
                driver.complete_.contains(reinterpret_cast<std::uintptr_t>(event));
            return complete ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
        });
    }
    static CUresult CUDAAPI event_destroy(CUevent event) {
        return call("cuEventDestroy", name_of(event), [&](ScriptedDriver& driver) {
            expect_live(driver, event);
            driver.events_.erase(reinterpret_cast<std::uintptr_t>(event));
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI mem_alloc(CUdeviceptr* address, std::size_t bytes) {
        return call("cuMemAlloc", format("%zu", bytes),
                    [&](ScriptedDriver& driver) { return allocate(driver, address, bytes); });
    }
    static CUresult CUDAAPI mem_free(CUdeviceptr address) {
        return call("cuMemFree", name_of(Address{address}),
                    [&](ScriptedDriver& driver) { return release(driver, address); });
    }
    static CUresult CUDAAPI mem_alloc_async(CUdeviceptr* address, std::size_t bytes,
                                            CUstream stream) {
        return call("cuMemAllocAsync", format("%zu, ", bytes) + name_of(stream),
                    [&](ScriptedDriver& driver) { return allocate(driver, address, bytes); });
    }
    static CUresult CUDAAPI mem_free_async(CUdeviceptr address, CUstream stream) {
        return call("cuMemFreeAsync", name_of(Address{address}) + ", " + name_of(stream),
                    [&](ScriptedDriver& driver) { return release(driver, address, stream); });
    }
    static CUresult CUDAAPI mem_pool_create(CUmemoryPool* pool, const CUmemPoolProps* properties) {
        return call("cuMemPoolCreate", format("%d", properties->location.id),
                    [&](ScriptedDriver& driver) {
                        driver.expect(properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                                      properties->handleTypes == CU_MEM_HANDLE_TYPE_NONE);
                        *pool = reinterpret_cast<CUmemoryPool>(++driver.last_pool_);
                        driver.pools_.insert(driver.last_pool_);
                        return CUDA_SUCCESS;
                    });
    }
    static CUresult CUDAAPI mem_pool_destroy(CUmemoryPool pool) {
        return call("cuMemPoolDestroy", "", [&](ScriptedDriver& driver) {
            driver.expect(driver.pools_.erase(key(pool)) == 1);
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI mem_pool_get_attribute(CUmemoryPool /*pool*/,
                                                   CUmemPool_attribute attribute, void* value) {
        return call("cuMemPoolGetAttribute", format("%d", attribute), [&](ScriptedDriver& driver) {
            driver.expect(attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
            *static_cast<cuuint64_t*>(value) = driver.pool_reserved_;
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI mem_pool_set_attribute(CUmemoryPool /*pool*/,
                                                   CUmemPool_attribute attribute, void* value) {
        const bool wide = attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        const auto number = static_cast<long long>(wide ? *static_cast<const cuuint64_t*>(value)
                                                        : *static_cast<const int*>(value));
        return call("cuMemPoolSetAttribute", format("%d, %lld", attribute, number),
                    [&](const ScriptedDriver&) { return CUDA_SUCCESS; });
    }
    static CUresult CUDAAPI mem_pool_set_access(CUmemoryPool /*pool*/, const CUmemAccessDesc* map,
                                                std::size_t count) {
        return call(
            "cuMemPoolSetAccess", format("%d", map->location.id), [&](ScriptedDriver& driver) {
                driver.expect(count == 1 && map->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
                return CUDA_SUCCESS;
            });
    }
    static CUresult CUDAAPI mem_pool_trim_to(CUmemoryPool /*pool*/, std::size_t bytes) {
        return call("cuMemPoolTrimTo", format("%zu", bytes), [&](ScriptedDriver& driver) {
            driver.pool_reserved_ -= driver.pool_unused_;
            driver.free_bytes_ += std::exchange(driver.pool_unused_, 0);
            return CUDA_SUCCESS;
        });
    }
    static CUresult CUDAAPI mem_alloc_from_pool_async(CUdeviceptr* address, std::size_t bytes,
                                                      CUmemoryPool pool, CUstream stream) {
        return call("cuMemAllocFromPoolAsync", format("%zu, ", bytes) + name_of(stream),
                    [&](ScriptedDriver& driver) {
                        driver.expect(driver.pools_.contains(key(pool)));
                        return allocate(driver, address, bytes, true);
                    });
    }
};

ScriptedDriver::ScriptedDriver()
    : api{.device_get = &ScriptedFunctions::device_get,
          .device_get_attribute = &ScriptedFunctions::device_get_attribute,
          .ctx_get_current = &ScriptedFunctions::ctx_get_current,
          .ctx_push_current = &ScriptedFunctions::ctx_push_current,
          .ctx_pop_current = &ScriptedFunctions::ctx_pop_current,
          .ctx_synchronize = &ScriptedFunctions::ctx_synchronize,
          .stream_get_ctx = &ScriptedFunctions::stream_get_ctx,
          .stream_create = &ScriptedFunctions::stream_create,
          .stream_destroy = &ScriptedFunctions::stream_destroy,
          .stream_synchronize = &ScriptedFunctions::stream_synchronize,
          .stream_wait_event = &ScriptedFunctions::stream_wait_event,
          .event_create = &ScriptedFunctions::event_create,
          .event_record = &ScriptedFunctions::event_record,
          .event_query = &ScriptedFunctions::event_query,
          .event_destroy = &ScriptedFunctions::event_destroy,
          .mem_alloc = &ScriptedFunctions::mem_alloc,
          .mem_free = &ScriptedFunctions::mem_free,
          .mem_host_alloc = &ScriptedFunctions::mem_host_alloc,
          .mem_free_host = &ScriptedFunctions::mem_free_host,
          .memset_d8_async = &ScriptedFunctions::memset_d8_async,
          .module_load_data = &ScriptedFunctions::module_load_data,
          .module_get_function = &ScriptedFunctions::module_get_function,
          .module_unload = &ScriptedFunctions::module_unload,
          .launch_kernel = &ScriptedFunctions::launch_kernel,
          .mem_alloc_async = &ScriptedFunctions::mem_alloc_async,
          .mem_free_async = &ScriptedFunctions::mem_free_async,
          .mem_pool_create = &ScriptedFunctions::mem_pool_create,
          .mem_pool_destroy = &ScriptedFunctions::mem_pool_destroy,
          .mem_pool_get_attribute = &ScriptedFunctions::mem_pool_get_attribute,
          .mem_pool_set_attribute = &ScriptedFunctions::mem_pool_set_attribute,
          .mem_pool_set_access = &ScriptedFunctions::mem_pool_set_access,
          .mem_pool_trim_to = &ScriptedFunctions::mem_pool_trim_to,
          .mem_alloc_from_pool_async = &ScriptedFunctions::mem_alloc_from_pool_async} {
    current_driver = this;
}

ScriptedDriver::Memory* ScriptedDriver::memory_around(Address address, std::size_t bytes) {
    const auto next = allocations_.upper_bound(address);
    if (next == allocations_.begin()) {
        return nullptr;
    }
    auto& [start, memory] = *std::prev(next);
    return address + bytes <= start + memory.bytes ? &memory : nullptr;
}

unsigned char ScriptedDriver::peek(Address address) const {
    const std::lock_guard lock(mutex_);
    const auto next = allocations_.upper_bound(address);
    return ScriptedFunctions::byte_of(std::prev(next)->second, address);
}

void ScriptedDriver::poke(Address address, unsigned char value) {
    const std::lock_guard lock(mutex_);
    ScriptedFunctions::set(*this, address, 1, value);
}

ScriptedDriver::~ScriptedDriver() {
    current_driver = nullptr;
}

CUresult ScriptedDriver::begin(const std::string& function, const std::string& arguments) {
    std::function<void()> action;
    CUresult result = CUDA_SUCCESS;
    {
        const std::lock_guard lock(mutex_);
        if (recording_) {
            calls_.push_back(function + "(" + arguments + ")");
        }
        if (calls_until_failure_ > 0 && --calls_until_failure_ == 0) {
            result = failure_;
        }
        const auto failing = failing_.find(function);
        if (failing != failing_.end()) {
            result = failing->second;
            failing_.erase(failing);
        }
        // Taken out while it runs, so that driver calls it leads to do not run it again.
        action = std::exchange(on_call_, nullptr);
    }
    if (action) {
        action();
        const std::lock_guard lock(mutex_);
        on_call_ = std::move(action);
    }
    return result;
}

void ScriptedDriver::expect(bool correct) {
    violations_ += correct ? 0 : 1;
}

std::vector<std::string> ScriptedDriver::take_calls() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
}

void ScriptedDriver::next_address(Address address) {
    const std::lock_guard lock(mutex_);
    next_address_ = address;
}

void ScriptedDriver::fail_call(int nth, CUresult result) {
    const std::lock_guard lock(mutex_);
    calls_until_failure_ = nth;
    failure_ = result;
}

bool ScriptedDriver::cancel_failure() {
    const std::lock_guard lock(mutex_);
    failing_.clear();
    return std::exchange(calls_until_failure_, 0) > 0;
}

void ScriptedDriver::fail_next(const std::string& function, CUresult result) {
    const std::lock_guard lock(mutex_);
    failing_[function] = result;
}

void ScriptedDriver::complete_event(int number) {
    const std::lock_guard lock(mutex_);
    complete_.insert(static_cast<std::uintptr_t>(number));
}

void ScriptedDriver::complete_everything() {
    const std::lock_guard lock(mutex_);
    everything_complete_ = true;
}

void ScriptedDriver::set_pools_supported(bool supported) {
    const std::lock_guard lock(mutex_);
    pools_supported_ = supported;
}

void ScriptedDriver::set_free_bytes(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    free_bytes_ = bytes;
}

void ScriptedDriver::set_context(ContextId current) {
    const std::lock_guard lock(mutex_);
    context_ = current;
}

void ScriptedDriver::set_stream_context(StreamId stream, ContextId context) {
    const std::lock_guard lock(mutex_);
    stream_contexts_[stream] = context;
}

void ScriptedDriver::lose_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    const auto is_its_own = [&](const auto& entry) { return entry.second == context; };
    std::erase_if(events_, is_its_own);
    std::erase_if(streams_, is_its_own);
    std::erase_if(modules_, is_its_own);
    std::erase_if(host_memory_, [&](const auto& entry) {
        const bool ends = entry.second == context;
        if (ends) {
            std::free(entry.first);  // NOLINT(cppcoreguidelines-no-malloc)
        }
        return ends;
    });
    std::erase_if(allocations_, [&](const auto& entry) {
        return entry.second.context == context && !entry.second.in_pool;
    });
}

void ScriptedDriver::on_call(std::function<void()> action) {
    const std::lock_guard lock(mutex_);
    on_call_ = std::move(action);
}

void ScriptedDriver::stop_recording() {
    const std::lock_guard lock(mutex_);
    recording_ = false;
}

std::size_t ScriptedDriver::live_allocations() const {
    const std::lock_guard lock(mutex_);
    return allocations_.size();
}

std::size_t ScriptedDriver::live_streams() const {
    const std::lock_guard lock(mutex_);
    return streams_.size();
}

std::size_t ScriptedDriver::live_pools() const {
    const std::lock_guard lock(mutex_);
    return pools_.size();
}

std::size_t ScriptedDriver::live_modules() const {
    const std::lock_guard lock(mutex_);
    return modules_.size();
}

std::size_t ScriptedDriver::live_host_memory() const {
    const std::lock_guard lock(mutex_);
    return host_memory_.size();
}

std::size_t ScriptedDriver::live_events() const {
    const std::lock_guard lock(mutex_);
    return events_.size();
}

}  // namespace cuward::testing
