// The operations that touched a block last, for findings that are made long after.
#pragma once

#include <algorithm>
#include <vector>

#include "core/blocks/access_history.hpp"

namespace cuward {

/// Each place of the program once, earliest first. Unlike an AccessHistory it keeps what is known
/// to be complete.
class RecentUses {
  public:
    static constexpr std::size_t kMost = 4;

    void add(const PastAccess& use) {
        if (!uses_.empty() && uses_.back().place == use.place) {
            uses_.back() = use;
            return;
        }
        std::erase_if(uses_, [&](const PastAccess& old) { return old.place == use.place; });
        if (uses_.size() == kMost) {
            uses_.erase(uses_.begin());
        }
        uses_.push_back(use);
    }

    auto begin() const { return uses_.begin(); }
    auto end() const { return uses_.end(); }
    bool empty() const { return uses_.empty(); }

  private:
    std::vector<PastAccess> uses_;
};

}  // namespace cuward
