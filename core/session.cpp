#include "core/session.hpp"

#include "core/resource/resource_stack.hpp"
#include "core/thread_id.hpp"

namespace cuward {

constinit thread_local int ToolScope::depth_ = 0;

Session::Session(const DriverApi& driver, const std::string& log_path, const Settings& settings)
    : driver_(driver), settings_(settings), log_(log_path), stacks_(log_), tracker_(log_) {}

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
            resource = make_resource_stack(CudaDevice(driver_, &observed_order()), device_ordinal,
                                           settings_)
                           .release();
            place.store(resource, std::memory_order_release);
        }
    }
    return resource;
}

CallSite Session::site(const char* api) {
    return {.api = api, .stack = stacks_.capture(), .thread = this_thread_id()};
}

// The order of check mode answers every question with "provided", so prepare_block_use queues
// nothing and fails only for a block freed between decoding and now, which the tracker reports.
void Session::begin(const Operation& operation, PendingOperation& pending) {
    tracker_.begin(operation, pending);
    for (const PendingOperation::Use& use : pending.uses) {
        (void)resource(use.block.device_ordinal)
            ->prepare_block_use(use.block, pending.stream, use.access);
    }
}

void Session::end(PendingOperation& pending, bool succeeded) {
    if (succeeded && pending.active) {
        for (const PendingOperation::Use& use : pending.uses) {
            (void)resource(use.block.device_ordinal)
                ->finish_block_use(use.block, pending.stream, use.access);
        }
    }
    tracker_.end(pending, succeeded);
}

}  // namespace cuward
