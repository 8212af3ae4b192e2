// Everything the tool holds for one watched process: log, stacks, tracker, and one stack of
// memory resources a device.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "core/graphs/graphs.hpp"
#include "core/guard_findings.hpp"
#include "core/log/log.hpp"
#include "core/repair/program_order.hpp"
#include "core/resource/budget_account.hpp"
#include "core/resource/budget_charges.hpp"
#include "core/resource/device_memory_resource.hpp"
#include "core/resource/driver_api.hpp"
#include "core/settings.hpp"
#include "core/stacks/stacks.hpp"
#include "core/tracker.hpp"

namespace cuward {

/// True while the calling thread runs inside the tool: driver calls it makes then are the tool's
/// own and must not be tracked. The hooks and the callbacks enter it first thing.
class ToolScope {
  public:
    ToolScope() { ++depth_; }
    ~ToolScope() { --depth_; }
    ToolScope(const ToolScope&) = delete;
    ToolScope& operator=(const ToolScope&) = delete;
    static bool inside() { return depth_ > 0; }

  private:
    static constinit thread_local int depth_;
};

class Session {
  public:
    Session(const DriverApi& driver, const std::string& log_path, const Settings& settings = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Log& log() { return log_; }
    Stacks& stacks() { return stacks_; }
    Tracker& tracker() { return tracker_; }
    Graphs& graphs() { return graphs_; }
    const DriverApi& driver() const { return driver_; }
    const Settings& settings() const { return settings_; }

    /// The resources of a device, made at their first use; null for an ordinal no driver gives.
    DeviceMemoryResource* resource(int device_ordinal);

    /// The budget of a device; null without one.
    BudgetAccount* budget(int device_ordinal) { return budgets_.of(device_ordinal); }

    /// What of the budgets is taken by memory that no resource owns.
    BudgetCharges& charges() { return charges_; }

    /// Writes down that the budget had no room for what the program asks for by `api`.
    void refused(const char* api, int device_ordinal, const BudgetRefusal& refusal);

    /// Place of the call being made, for the log.
    CallSite site(const char* api);

    /// The order that the program provides, and its repair.
    ProgramOrder& order() { return order_; }

    /// From now on the program's work is not seen any more.
    void lose_sight() { order_.lose_sight(); }

    /// Entry and return of a call that queues work: the tracker checks it, every block that a
    /// resource owns goes through prepare_block_use and finish_block_use, and what is missing
    /// besides is repaired if the settings want it.
    void begin(const Operation& operation, PendingOperation& pending);
    void end(PendingOperation& pending, bool succeeded);

    /// Entry of a free; Tracker::end_free ends it.
    PendingFree begin_free(const FreeRequest& request);
    /// A context is about to be destroyed or reset, if the driver agrees; 0 is none.
    void context_ending(ContextId context);
    /// The driver has destroyed or reset a context, and all that lived in it.
    void context_ended(ContextId context, const CallSite& site);

    /// The program has waited for the device or a stream.
    void synchronized();
    /// Looks for damage in all guarded memory, while the driver still works.
    void check_memory();

    /// Writes final counts to the log, which ends with that.
    void finish();

  private:
    UseOrder& order_of_resources();
    template <typename Visit>
    void for_each_resource(Visit visit);

    DriverApi driver_;
    Settings settings_;
    Log log_;
    Stacks stacks_;
    Tracker tracker_;
    ProgramOrder order_;
    Graphs graphs_;
    static constexpr int kMaxDevices = 128;
    BudgetAccounts budgets_;
    BudgetCharges charges_;
    GuardFindings guard_findings_;
    std::mutex resources_mutex_;
    std::array<std::atomic<DeviceMemoryResource*>, kMaxDevices> resources_{};
};

}  // namespace cuward
