// Allocations that only the driver can serve: within the budget, and watched.
#pragma once

#include <utility>

#include "interpose/pool_memory.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {

/// Bytes of the budget for one such allocation, given back unless the memory comes.
class BudgetClaim {
  public:
    BudgetClaim() = default;
    ~BudgetClaim() {
        if (charge_.account != nullptr) {
            charge_.account->release(charge_.bytes);
        }
    }
    BudgetClaim(const BudgetClaim&) = delete;
    BudgetClaim& operator=(const BudgetClaim&) = delete;

    /// Before the call. What has no room is written down and is_refused().
    void take(Tool& tool, const std::optional<DriverState::Current>& place, std::uint64_t bytes,
              const char* api) {
        BudgetAccount* const account = place ? tool.session.budget(place->device) : nullptr;
        if (account == nullptr) {
            return;
        }
        const auto reserved = account->reserve(bytes);
        if (reserved) {
            charge_ = {.account = account, .bytes = bytes, .context = place->context};
            charges_ = &tool.session.charges();
        } else {
            is_refused_ = true;
            tool.session.refused(api, place->device, reserved.error());
        }
    }
    bool is_refused() const { return is_refused_; }

    /// The driver has given the memory: it is charged until it is freed.
    void keep(Address address) {
        if (charges_ != nullptr) {
            charges_->add(address, std::exchange(charge_, {}));
        }
    }

  private:
    BudgetCharge charge_;
    BudgetCharges* charges_ = nullptr;  ///< set while the claim holds bytes
    bool is_refused_ = false;
};

/// An allocation of `bytes` on the current device by `call()`. `describe()` gives the NewBlock if
/// it has succeeded.
template <typename Call, typename Describe>
CUresult allocate_by_driver(const char* api, std::uint64_t bytes, Call call,
                            Describe describe) noexcept {
    BudgetClaim claim;
    Tool* const tool = watching();
    if (tool != nullptr && tool->session.settings().budget) {
        guarded([&] { claim.take(*tool, tool->driver.current(), bytes, api); });
    }
    if (claim.is_refused()) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const CUresult result = with_pool_memory(call);
    watch_allocation(result, api, [&] {
        const NewBlock block = describe();
        claim.keep(block.ptr);
        return block;
    });
    return result;
}

}  // namespace cuward
