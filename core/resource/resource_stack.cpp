#include "core/resource/resource_stack.hpp"

#include "core/resource/async_cuda_resource.hpp"
#include "core/resource/debug_guard_resource.hpp"
#include "core/resource/direct_cuda_resource.hpp"
#include "core/resource/global_device_budget.hpp"
#include "core/resource/logging_resource.hpp"

namespace cuward {
namespace {

std::unique_ptr<DeviceMemoryResource> make_source(CudaDevice device, int device_ordinal,
                                                  const Settings& settings) {
    if (settings.backend == Backend::Async) {
        return std::make_unique<AsyncCudaResource>(device, device_ordinal);
    }
    return std::make_unique<DirectCudaResource>(device, device_ordinal);
}

}  // namespace

std::unique_ptr<DeviceMemoryResource> make_resource_stack(CudaDevice device, int device_ordinal,
                                                          const Settings& settings,
                                                          BudgetAccount* budget, ResourceLog& log,
                                                          GuardReports& reports) {
    std::unique_ptr<DeviceMemoryResource> stack = make_source(device, device_ordinal, settings);
    if (settings.guard) {
        const GuardOptions options{.quarantine_bytes = settings.quarantine_bytes,
                                   .guards_front = settings.guard_front};
        stack = std::make_unique<DebugGuardResource>(std::move(stack), device, options, reports);
    }
    if (budget != nullptr) {
        stack = std::make_unique<GlobalDeviceBudget>(std::move(stack), *budget);
    }
    if (settings.log_memory) {
        stack = std::make_unique<LoggingResource>(std::move(stack), log);
    }
    return stack;
}

}  // namespace cuward
