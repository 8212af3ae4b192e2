#include "core/resource/budget_account.hpp"

#include <algorithm>

namespace cuward {

// No lock is held while users give back, as they ask the driver.
tl::expected<void, BudgetRefusal> BudgetAccount::reserve(std::uint64_t bytes) {
    auto reserved = try_reserve(bytes);
    if (reserved || bytes > limit_) {
        return reserved;
    }
    for (DeviceMemoryResource* user : users()) {
        user->reap_pending();
    }
    reserved = try_reserve(bytes);
    if (reserved) {
        return reserved;
    }
    reclaim();
    return try_reserve(bytes);
}

void BudgetAccount::reclaim() {
    for (DeviceMemoryResource* user : users()) {
        user->await_pending();
    }
}

tl::expected<void, BudgetRefusal> BudgetAccount::try_reserve(std::uint64_t bytes) {
    std::uint64_t current = current_;
    do {
        const std::uint64_t remaining = limit_ - current;
        if (bytes > remaining) {
            return tl::unexpected(BudgetRefusal{
                .requested = bytes, .current = current, .remaining = remaining, .limit = limit_});
        }
    } while (!current_.compare_exchange_weak(current, current + bytes));
    return {};
}

std::vector<DeviceMemoryResource*> BudgetAccount::users() {
    const std::lock_guard lock(users_mutex_);
    return users_;
}

void BudgetAccount::join(DeviceMemoryResource& user) {
    const std::lock_guard lock(users_mutex_);
    users_.push_back(&user);
}

void BudgetAccount::leave(const DeviceMemoryResource& user) {
    const std::lock_guard lock(users_mutex_);
    users_.erase(std::remove(users_.begin(), users_.end(), &user), users_.end());
}

BudgetAccounts::BudgetAccounts(const std::optional<BudgetLimit>& limit, int devices)
    : devices_(devices) {
    const int accounts = !limit ? 0 : limit->for_process ? 1 : devices;
    for (int i = 0; i < accounts; ++i) {
        accounts_.emplace_back(limit->bytes);
    }
}

BudgetAccount* BudgetAccounts::of(int device_ordinal) {
    if (accounts_.empty() || device_ordinal < 0 || device_ordinal >= devices_) {
        return nullptr;
    }
    return &accounts_[accounts_.size() == 1 ? 0 : static_cast<std::size_t>(device_ordinal)];
}

}  // namespace cuward
