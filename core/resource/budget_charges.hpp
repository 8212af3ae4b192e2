// What memory that the driver gave to the program itself takes of budgets.
#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/resource/budget_account.hpp"

namespace cuward {

struct BudgetCharge {
    BudgetAccount* account = nullptr;
    std::uint64_t bytes = 0;
    ContextId context = 0;  ///< the memory ends with it at the latest
};

/// Charges by address, or by handle for arrays. Their bytes are taken from the account before, and
/// are given back here. Thread-safe.
class BudgetCharges {
  public:
    /// Memory the driver has just handed out; what was taken to be there has gone unseen.
    void add(Address address, const BudgetCharge& charge);

    /// Entry of a free, and its return: the charge is out of the table meanwhile, as the address
    /// may be handed out again before the call has returned.
    std::optional<BudgetCharge> take(Address address);
    void end(Address address, const std::optional<BudgetCharge>& taken, bool is_freed);

    /// The driver has destroyed a context.
    void forget_context(ContextId context);

  private:
    static void give_back(const BudgetCharge& charge) { charge.account->release(charge.bytes); }

    std::mutex mutex_;
    std::unordered_map<Address, BudgetCharge> charges_;
};

}  // namespace cuward
