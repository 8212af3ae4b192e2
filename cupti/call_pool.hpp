// The calls that a thread is in, between their entry and their return.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cupti/call.hpp"

namespace cuward::cupti {

/// Calls nest when the driver calls itself, so they form a stack. Objects are reused: a thread that
/// has made a call of some depth allocates nothing for the next.
class CallPool {
  public:
    /// A call that begins. The object stays where it is until it is taken by `leave`.
    Call& enter() {
        if (depth_ == calls_.size()) {
            calls_.push_back(std::make_unique<Call>());
        }
        return *calls_[depth_++];
    }

    /// The call that `enter` gave out as `token` returns; null if no such call is under way, as
    /// when its entry came before the subscription. Calls above it, whose return nobody told, are
    /// dropped.
    Call* leave(const void* token) {
        for (std::size_t i = depth_; i-- > 0;) {
            if (calls_[i].get() == token) {
                depth_ = i;
                return calls_[i].get();
            }
        }
        return nullptr;
    }

  private:
    std::vector<std::unique_ptr<Call>> calls_;
    std::size_t depth_ = 0;
};

}  // namespace cuward::cupti
