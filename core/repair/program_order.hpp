// The order that the program provides, as the tracker knows it, and the repair of what it fails to
// provide.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/operation.hpp"
#include "core/repair/stream_marks.hpp"
#include "core/resource/driver_api.hpp"
#include "core/resource/stream_wait.hpp"
#include "core/resource/use_order.hpp"
#include "core/settings.hpp"
#include "core/tracker.hpp"

namespace cuward {

/// Thread-safe. What resources ask is answered from the tracker's clocks; of the waits that are
/// missing those are queued that the settings want repaired.
class ProgramOrder final : public UseOrder {
  public:
    ProgramOrder(const DriverApi& driver, Tracker& tracker, const Settings& settings);

    /// Which hazards the tracker is to name as missing.
    static RepairPolicy policy_of(const Settings& settings);

    UsePoint point(StreamId stream) override;
    bool provided(const UsePoint& earlier, const UsePoint& later) override;
    /// Records an event if there is none behind this work. 0 if none can be.
    std::uint64_t event_behind(const UsePoint& use) override;
    void queued(const UsePoint& earlier, const UsePoint& later) override;
    void for_each_unfinished(const std::function<void(const UsePoint&)>& visit) override;
    bool sees_all_work() const override { return sees_work_; }
    bool is_capturing() const override { return tracker_.is_capturing(); }
    bool observes_only() const override { return settings_.mode == Mode::Check; }

    /// While it lives the calling thread deals with this operation: what resources ask is about it.
    class Current {
      public:
        explicit Current(PendingOperation& operation) { current_ = &operation; }
        ~Current() { current_ = nullptr; }
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;
    };

    /// Queues what is still missing before the current operation, which has been entered.
    void repair(PendingOperation& operation);
    /// The current operation has been queued.
    void operation_queued(const PendingOperation& operation);

    /// Makes the free's stream wait for every use that is missing, and gives whether it does.
    bool repair(const PendingFree& free);

    /// Makes the host wait for all of this work, but not for long: what it waits for may be the
    /// host's to do. Gives whether it is complete.
    bool host_waits(const std::vector<UsePoint>& missing);

    /// A stream is about to be destroyed or captured, when no event can be recorded behind its work
    /// any more. A capture's beginning ends with `after_loss`, whether or not it succeeds.
    void before_loss(StreamRef stream);
    /// A stream is about to wait for something that may still have to be queued: who waits
    /// for what it did before must not wait for that too.
    void before_wait(StreamRef stream);
    void after_loss(StreamRef stream);
    void forget_context(ContextId context);

    /// Nobody tells the tracker of the program's work any more.
    void lose_sight() { sees_work_ = false; }

    /// How many waits have been queued on the program's streams.
    std::uint64_t waits() const { return waits_.load(); }

  private:
    UsePoint point_of(const PendingOperation& operation) const;
    bool queues_nothing() const;
    void mark_work(StreamRef stream);
    bool is_wanted(const UsePoint& earlier, const UsePoint& later) const;
    bool queue(const UsePoint& earlier, const UsePoint& later);

    static constinit thread_local PendingOperation* current_;
    static constinit thread_local UsePoint behind_;  ///< what the event given last is behind

    const DriverApi& driver_;
    Tracker& tracker_;
    const Settings settings_;
    StreamEvents events_;
    StreamMarks marks_;
    std::atomic<std::uint64_t> waits_{0};
    std::atomic<bool> sees_work_{true};
};

}  // namespace cuward
