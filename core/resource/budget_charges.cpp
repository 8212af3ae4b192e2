#include "core/resource/budget_charges.hpp"

namespace cuward {

void BudgetCharges::add(Address address, const BudgetCharge& charge) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = charges_.try_emplace(address, charge);
    if (!is_new) {
        give_back(place->second);
        place->second = charge;
    }
}

std::optional<BudgetCharge> BudgetCharges::take(Address address) {
    const std::lock_guard lock(mutex_);
    const auto found = charges_.find(address);
    if (found == charges_.end()) {
        return std::nullopt;
    }
    const BudgetCharge charge = found->second;
    charges_.erase(found);
    return charge;
}

void BudgetCharges::end(Address address, const std::optional<BudgetCharge>& taken, bool is_freed) {
    if (taken && is_freed) {
        give_back(*taken);
    } else if (taken) {
        add(address, *taken);
    }
}

void BudgetCharges::forget_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    std::erase_if(charges_, [&](const auto& entry) {
        const bool ends = entry.second.context == context;
        if (ends) {
            give_back(entry.second);
        }
        return ends;
    });
}

}  // namespace cuward
