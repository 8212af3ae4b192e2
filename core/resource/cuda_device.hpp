// A device as resources see it: the driver's functions, and what is known of the program's order.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "core/resource/driver_api.hpp"
#include "core/resource/use_order.hpp"

namespace cuward {

/// Refers to both tables; whoever creates them keeps them alive. Without an order nothing is known
/// to be provided, so every dependency is queued.
class CudaDevice {
  public:
    explicit CudaDevice(const DriverApi& driver, UseOrder* order = nullptr)
        : driver_(&driver), order_(order) {}

    const DriverApi& driver() const { return *driver_; }

    /// The work queued last on `stream`. Without an order a handle is taken to be one stream,
    /// except the two default handles, which mean another stream in every context, and
    /// CU_STREAM_PER_THREAD also in every thread (Driver API manual, "Stream synchronization
    /// behavior").
    UsePoint point(StreamId stream) const;

    /// The host as the later side of a dependency.
    static UsePoint host() { return {.lane = std::numeric_limits<std::uint64_t>::max()}; }

    bool provided(const UsePoint& earlier, const UsePoint& later) const {
        return order_ != nullptr && order_->provided(earlier, later);
    }
    void queued(const UsePoint& earlier, const UsePoint& later) const {
        if (order_ != nullptr) {
            order_->queued(earlier, later);
        }
    }
    std::uint64_t event_behind(const UsePoint& use) const {
        return order_ != nullptr ? order_->event_behind(use) : 0;
    }
    void for_each_unfinished(const std::function<void(const UsePoint&)>& visit) const {
        if (order_ != nullptr) {
            order_->for_each_unfinished(visit);
        }
    }
    bool sees_all_work() const { return order_ == nullptr || order_->sees_all_work(); }
    bool is_capturing() const { return order_ != nullptr && order_->is_capturing(); }
    bool observes_only() const { return order_ != nullptr && order_->observes_only(); }
    bool needs_uses() const { return order_ == nullptr || order_->needs_uses(); }

  private:
    const DriverApi* driver_;
    UseOrder* order_;
};

}  // namespace cuward
