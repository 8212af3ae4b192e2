// A driver that does what tests tell it: writes down every call, hands out addresses and events,
// fails on demand, and notices what no correct caller does.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/resource/driver_api.hpp"
#include "core/types.hpp"

namespace cuward::testing {

constexpr ContextId kContext{0xc1000};
constexpr ContextId kOtherContext{0xc2000};

/// One at a time exists, as driver functions carry no user data. Thread-safe.
class ScriptedDriver {
  public:
    ScriptedDriver();
    ~ScriptedDriver();
    ScriptedDriver(const ScriptedDriver&) = delete;
    ScriptedDriver& operator=(const ScriptedDriver&) = delete;

    DriverApi api;

    /// Calls since the last time, in order, like "cuEventRecord(e1, s10)".
    std::vector<std::string> take_calls();

    /// The address of the next allocation; by default they never repeat.
    void next_address(Address address);

    /// The `nth` call from now fails, or the next call of one function.
    void fail_call(int nth, CUresult result = CUDA_ERROR_UNKNOWN);
    /// Whether a failure ordered by fail_call was still to come; none is any longer.
    bool cancel_failure();
    void fail_next(const std::string& function, CUresult result);

    /// Whether an event is done when it is queried; by default those are that were recorded on a
    /// stream that has been synchronized since.
    void complete_event(int number);
    void complete_everything();

    void set_pools_supported(bool supported);
    /// How many bytes are left; by default more than anybody asks for. Frees on a stream give
    /// memory back to its pool when the stream is synchronized.
    void set_free_bytes(std::size_t bytes);
    void set_context(ContextId current);
    void set_stream_context(StreamId stream, ContextId context);

    /// A context ends: its events, streams and memory are no more; a pool's memory is not its own.
    void lose_context(ContextId context);

    /// Runs inside every driver call, as a tool's callback would.
    void on_call(std::function<void()> action);

    /// Switches off the record of calls for tests that make too many.
    void stop_recording();

    std::size_t live_allocations() const;
    std::size_t live_events() const;
    std::size_t live_streams() const;
    std::size_t live_pools() const;
    std::size_t live_modules() const;
    std::size_t live_host_memory() const;

    /// A byte of device memory, as sets of memory have left it; writes it as a kernel would.
    unsigned char peek(Address address) const;
    void poke(Address address, unsigned char value);

    int violations() const { return violations_; }

  private:
    friend struct ScriptedFunctions;

    CUresult begin(const std::string& function, const std::string& arguments);
    void expect(bool correct);
    ContextId current() const { return pushed_.empty() ? context_ : pushed_.back(); }

    mutable std::mutex mutex_;
    std::vector<std::string> calls_;
    bool recording_ = true;
    int calls_until_failure_ = 0;
    CUresult failure_ = CUDA_SUCCESS;
    std::map<std::string, CUresult> failing_;
    std::function<void()> on_call_;
    Address next_address_ = 0x10000;
    struct Memory {
        std::size_t bytes;
        bool in_pool;
        ContextId context;
        std::map<Address, unsigned char> contents{};  ///< from each address on, until the next
    };
    Memory* memory_around(Address address, std::size_t bytes);
    std::map<Address, Memory> allocations_;
    std::size_t free_bytes_ = ~std::size_t{0};
    std::size_t pool_reserved_ = 0;
    std::size_t pool_unused_ = 0;
    std::map<std::uintptr_t, std::size_t> queued_frees_;  ///< bytes for the pool, by stream
    std::map<std::uintptr_t, ContextId> streams_;
    std::set<std::uintptr_t> pools_;
    std::map<std::uintptr_t, ContextId> modules_;
    std::map<void*, ContextId> host_memory_;
    std::uintptr_t last_module_ = 0;
    std::uintptr_t last_stream_ = 500;
    std::uintptr_t last_pool_ = 0;
    std::map<std::uintptr_t, ContextId> events_;
    std::map<std::uintptr_t, std::uintptr_t> recorded_on_;  ///< streams, by event
    std::set<std::uintptr_t> complete_;
    std::uintptr_t last_event_ = 0;
    bool everything_complete_ = false;
    bool pools_supported_ = true;
    ContextId context_ = kContext;
    std::vector<ContextId> pushed_;
    std::map<StreamId, ContextId> stream_contexts_;
    std::atomic<int> violations_{0};
};

}  // namespace cuward::testing
