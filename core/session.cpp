#include "core/session.hpp"

#include <algorithm>

#include "core/resource/resource_stack.hpp"
#include "core/thread_id.hpp"

namespace cuward {

constinit thread_local int ToolScope::depth_ = 0;

Session::Session(const DriverApi& driver, const std::string& log_path, const Settings& settings)
    : driver_(driver),
      settings_(settings),
      log_(log_path),
      stacks_(log_),
      tracker_(log_, ProgramOrder::policy_of(settings)),
      order_(driver_, tracker_, settings_),
      budgets_(settings.budget, kMaxDevices),
      guard_findings_(tracker_, log_) {
    if (settings.guard) {
        tracker_.remember_recent_uses();
    }
}

Session::~Session() {
    for (std::atomic<DeviceMemoryResource*>& resource : resources_) {
        delete resource.load();
    }
}

DeviceMemoryResource* Session::resource(int device_ordinal) {
    if (device_ordinal < 0 || device_ordinal >= kMaxDevices) {
        return nullptr;
    }
    std::atomic<DeviceMemoryResource*>& place =
        resources_[static_cast<std::size_t>(device_ordinal)];
    DeviceMemoryResource* resource = place.load(std::memory_order_acquire);
    if (resource == nullptr) {
        const std::lock_guard lock(resources_mutex_);
        resource = place.load(std::memory_order_relaxed);
        if (resource == nullptr) {
            resource =
                make_resource_stack(CudaDevice(driver_, &order_of_resources()), device_ordinal,
                                    settings_, budgets_.of(device_ordinal), log_, guard_findings_)
                    .release();
            place.store(resource, std::memory_order_release);
        }
    }
    return resource;
}

void Session::refused(const char* api, int device_ordinal, const BudgetRefusal& refusal) {
    log_.budget(refusal, device_ordinal, settings_.budget && settings_.budget->for_process,
                site(api));
}

CallSite Session::site(const char* api) {
    return {.api = api, .stack = stacks_.capture(), .thread = this_thread_id()};
}

/// Where nothing is repaired and every allocation is the driver's, resources need no order.
UseOrder& Session::order_of_resources() {
    const bool needs_none =
        settings_.mode == Mode::Check && settings_.backend == Backend::Direct && !settings_.guard;
    return needs_none ? observed_order() : order_;
}

// prepare_block_use fails only for a block freed between decoding and now, which the tracker
// reports, and for a wait that the driver refuses, which is then not reported as repaired.
void Session::begin(const Operation& operation, PendingOperation& pending) {
    if (std::any_of(operation.values.begin(), operation.values.end(),
                    [](const ValueOperation& value) { return !value.is_write(); })) {
        order_.before_wait(operation.stream);
    }
    tracker_.begin(operation, pending);
    if (!pending.active) {
        return;
    }
    const ProgramOrder::Current current(pending);
    for (const PendingOperation::Use& use : pending.uses) {
        (void)resource(use.block.device_ordinal)
            ->prepare_block_use(use.block, pending.stream.stream, use.access);
    }
    order_.repair(pending);
}

void Session::end(PendingOperation& pending, bool succeeded) {
    if (succeeded && pending.active) {
        const ProgramOrder::Current current(pending);
        for (const PendingOperation::Use& use : pending.uses) {
            (void)resource(use.block.device_ordinal)
                ->finish_block_use(use.block, pending.stream.stream, use.access);
        }
        order_.operation_queued(pending);
    }
    tracker_.end(pending, succeeded);
}

PendingFree Session::begin_free(const FreeRequest& request) {
    PendingFree pending = tracker_.begin_free(request);
    if (pending.missing.empty()) {
        return pending;
    }
    const bool waits = order_.repair(pending);
    // cuMemFree does not wait for uses of pool memory, so the block is freed behind them.
    pending.is_behind_stream = waits && request.kind != FreeKind::Async;
    return pending;
}

void Session::finish() {
    tracker_.finish();
    if (settings_.mode == Mode::Enforce) {
        log_.repairs(order_.waits());
    }
    log_.end();
}

template <typename Visit>
void Session::for_each_resource(Visit visit) {
    for (std::atomic<DeviceMemoryResource*>& place : resources_) {
        if (DeviceMemoryResource* const made = place.load(std::memory_order_acquire)) {
            visit(*made);
        }
    }
}

void Session::synchronized() {
    if (settings_.guard_checks_sync) {
        check_memory();
    }
}

void Session::check_memory() {
    for_each_resource([](DeviceMemoryResource& made) { made.check_all(); });
}

void Session::context_ending(ContextId context) {
    if (context != 0) {
        for_each_resource([&](DeviceMemoryResource& made) { made.context_ending(context); });
    }
}

void Session::context_ended(ContextId context, const CallSite& site) {
    tracker_.context_ended(context, site, [&](const BlockId& block) {
        if (DeviceMemoryResource* const owner = resource(block.device_ordinal)) {
            (void)owner->forget(block);  // one that is gone already is as good as forgotten
        }
    });
    for_each_resource([&](DeviceMemoryResource& made) { made.forget_context(context); });
    charges_.forget_context(context);
    order_.forget_context(context);
}

}  // namespace cuward
