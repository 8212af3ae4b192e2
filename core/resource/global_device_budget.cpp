#include "core/resource/global_device_budget.hpp"

#include <cuda.h>

namespace cuward {

/// An allocation that the inner resource works on: its bytes stay taken until the resource counts
/// them itself, or has failed.
class GlobalDeviceBudget::Asking {
  public:
    Asking(GlobalDeviceBudget& budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {
        const std::lock_guard lock(budget_.mutex_);
        budget_.taken_ += bytes_;
        budget_.asking_ += bytes_;
    }
    ~Asking() {
        const std::lock_guard lock(budget_.mutex_);
        budget_.asking_ -= bytes_;
        budget_.settle_locked();
    }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

  private:
    GlobalDeviceBudget& budget_;
    std::uint64_t bytes_;
};

GlobalDeviceBudget::GlobalDeviceBudget(std::unique_ptr<DeviceMemoryResource> inner,
                                       BudgetAccount& account)
    : ForwardingResource(std::move(inner)), account_(account) {
    account_.join(*this);
}

GlobalDeviceBudget::~GlobalDeviceBudget() {
    account_.leave(*this);
    account_.release(taken_);
}

ResourceResult<DeviceBlock> GlobalDeviceBudget::allocate(std::size_t bytes, StreamId stream,
                                                         AllocTag tag) {
    const auto reserved = account_.reserve(bytes);
    if (!reserved) {
        return tl::unexpected(ResourceFailure{.error = ResourceError::OutOfBudget,
                                              .driver_result = CUDA_ERROR_OUT_OF_MEMORY,
                                              .refusal = reserved.error()});
    }
    const Asking asking(*this, bytes);
    return inner().allocate(bytes, stream, tag);
}

ResourceResult<void> GlobalDeviceBudget::deallocate(const DeviceBlock& block) {
    ResourceResult<void> result = inner().deallocate(block);
    settle();
    return result;
}

ResourceResult<void> GlobalDeviceBudget::deallocate_on(const DeviceBlock& block,
                                                       StreamId free_stream) {
    ResourceResult<void> result = inner().deallocate_on(block, free_stream);
    settle();
    return result;
}

ResourceResult<void> GlobalDeviceBudget::deallocate_synchronously(const DeviceBlock& block) {
    ResourceResult<void> result = inner().deallocate_synchronously(block);
    settle();
    return result;
}

ResourceResult<void> GlobalDeviceBudget::forget(const BlockId& block) {
    ResourceResult<void> result = inner().forget(block);
    settle();
    return result;
}

void GlobalDeviceBudget::forget_context(ContextId context) {
    inner().forget_context(context);
    settle();
}

void GlobalDeviceBudget::reap_pending() {
    inner().reap_pending();
    settle();
}

void GlobalDeviceBudget::await_pending() {
    inner().await_pending();
    settle();
}

void GlobalDeviceBudget::settle() {
    const std::lock_guard lock(mutex_);
    settle_locked();
}

/// Memory becomes outstanding only while its bytes are in `asking_`, so what is read here is never
/// less than what is in use.
void GlobalDeviceBudget::settle_locked() {
    const std::uint64_t needed = asking_ + inner().bytes_outstanding();
    if (taken_ > needed) {
        account_.release(taken_ - needed);
        taken_ = needed;
    }
}

}  // namespace cuward
