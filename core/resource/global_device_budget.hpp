// Keeps a device, or the whole process, within a number of bytes.
#pragma once

#include <mutex>

#include "core/resource/budget_account.hpp"
#include "core/resource/forwarding_resource.hpp"

namespace cuward {

/// Takes bytes from the account before it asks the inner resource, and gives them back when that
/// fails and once freed memory is no longer outstanding there. A refusal is OutOfBudget with
/// CUDA_ERROR_OUT_OF_MEMORY and the numbers. The caller keeps the account alive.
class GlobalDeviceBudget final : public ForwardingResource {
  public:
    GlobalDeviceBudget(std::unique_ptr<DeviceMemoryResource> inner, BudgetAccount& account);
    ~GlobalDeviceBudget() override;

    ResourceResult<DeviceBlock> allocate(std::size_t bytes, StreamId stream, AllocTag tag) override;
    ResourceResult<void> deallocate(const DeviceBlock& block) override;
    ResourceResult<void> deallocate_on(const DeviceBlock& block, StreamId free_stream) override;
    ResourceResult<void> deallocate_synchronously(const DeviceBlock& block) override;
    ResourceResult<void> forget(const BlockId& block) override;
    void forget_context(ContextId context) override;
    void reap_pending() override;
    void await_pending() override;

  private:
    class Asking;

    /// Gives back what is taken but neither outstanding nor being asked for.
    void settle();
    void settle_locked();

    BudgetAccount& account_;
    std::mutex mutex_;
    std::uint64_t taken_ = 0;   ///< of the account, by this resource
    std::uint64_t asking_ = 0;  ///< of these, for allocations that the inner resource works on
};

}  // namespace cuward
