// What guarding memory needs in one context: a stream of its own, the kernel that checks regions,
// and host memory that the kernel reads and writes.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "core/resource/driver_api.hpp"
#include "core/resource/guard/region.hpp"
#include "core/types.hpp"

namespace cuward::guard {

/// Regions under check, in pinned memory; the results count once the check is complete.
struct Check {
    static constexpr std::size_t kMost = 8;
    std::array<Region, kMost> regions;
    std::array<std::uint64_t, kMost> first_bad;

    /// The address of the first wrong byte of region `i`, 0 if it is intact.
    Address first_bad_address(std::size_t i) const {
        return first_bad[i] == kIntact ? 0 : regions[i].address + first_bad[i];
    }
};

/// All members want the context current. Thread-safe; no lock is held while the driver is called.
class ContextChecker {
  public:
    /// Creates the stream and loads the kernel. Without the kernel the checker can only fill:
    /// `load_result` says why.
    static tl::expected<std::shared_ptr<ContextChecker>, CUresult> create(const DriverApi& driver);

    ContextChecker(const ContextChecker&) = delete;
    ContextChecker& operator=(const ContextChecker&) = delete;

    CUresult load_result() const { return load_result_; }
    bool can_check() const { return kernel_ != nullptr; }

    /// The checker's own, non-blocking.
    StreamId stream() const;

    /// Queues on `stream` setting all bytes.
    CUresult fill(Address address, std::size_t bytes, unsigned char value, StreamId stream);

    /// Queues on `stream` a check of at most Check::kMost regions. Whoever gets the check gives it
    /// back once it is complete.
    tl::expected<Check*, CUresult> queue_check(std::span<const Region> regions, StreamId stream);
    void give_back(Check* check);

    /// Waits for the checker's own stream.
    CUresult wait();

    /// An event behind what has been queued on `stream`. To be given back when nobody asks about it
    /// any more.
    tl::expected<CUevent, CUresult> record(StreamId stream);
    void give_back(CUevent event);

    /// Gives everything back to the driver. Without this the driver is taken to have destroyed the
    /// context and all in it.
    void destroy();

  private:
    explicit ContextChecker(const DriverApi& driver) : driver_(driver) {}

    void load_kernel();
    tl::expected<Check*, CUresult> take_check();
    CUresult launch(Check* check, std::span<const Region> regions, StreamId stream);
    tl::expected<CUevent, CUresult> take_event();

    const DriverApi& driver_;
    CUstream stream_ = nullptr;
    CUmodule module_ = nullptr;
    CUfunction kernel_ = nullptr;
    CUresult load_result_ = CUDA_SUCCESS;

    std::mutex mutex_;
    std::vector<void*> pinned_;
    std::vector<Check*> idle_checks_;
    std::vector<CUevent> idle_events_;
};

}  // namespace cuward::guard
