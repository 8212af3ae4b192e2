// How many bytes of a budget are taken.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "core/resource/device_memory_resource.hpp"
#include "core/settings.hpp"

namespace cuward {

/// One limit that any number of resources draw upon. Thread-safe; however many threads reserve at
/// once, never more than the limit is taken.
class BudgetAccount {
  public:
    explicit BudgetAccount(std::uint64_t limit) : limit_(limit) {}

    /// Takes bytes before memory is asked for. If there is no room, those who draw upon the account
    /// first give back what the device has done with, then what the program believes to be freed;
    /// a refusal takes nothing.
    tl::expected<void, BudgetRefusal> reserve(std::uint64_t bytes);
    void release(std::uint64_t bytes) { current_ -= bytes; }
    /// Has everything given back that the program believes to be freed.
    void reclaim();

    std::uint64_t limit() const { return limit_; }
    std::uint64_t current() const { return current_; }
    std::uint64_t remaining() const { return limit_ - current_; }

    /// Enters a resource that may give memory back. Nobody reserves while one leaves.
    void join(DeviceMemoryResource& user);
    void leave(const DeviceMemoryResource& user);

  private:
    tl::expected<void, BudgetRefusal> try_reserve(std::uint64_t bytes);
    std::vector<DeviceMemoryResource*> users();

    const std::uint64_t limit_;
    std::atomic<std::uint64_t> current_{0};
    std::mutex users_mutex_;
    std::vector<DeviceMemoryResource*> users_;
};

/// The accounts that the user's limit makes: one for each device, one for all, or none.
class BudgetAccounts {
  public:
    BudgetAccounts(const std::optional<BudgetLimit>& limit, int devices);

    /// Null without a budget, and for an ordinal no driver gives.
    BudgetAccount* of(int device_ordinal);

  private:
    const int devices_;
    std::deque<BudgetAccount> accounts_;
};

}  // namespace cuward
