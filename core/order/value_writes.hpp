// Which stream's work a wait for a value comes after: that before the writes which satisfy it.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "core/order/clock.hpp"
#include "core/order/value_operation.hpp"

namespace cuward {

/// Not thread-safe.
class ValueWrites {
  public:
    bool empty() const { return writes_.empty(); }

    /// The write has been queued; `clock` is what comes before it.
    void add(const ValueOperation& write, const Clock& clock);
    /// Something else has written there: what the values are now is not known.
    void overwritten(ByteRange range);

    /// Joins all that is before the writes which satisfy a wait. Gives whether the last one does:
    /// otherwise the wait may end with a write that is not known, or that is still to be queued.
    bool join(const ValueOperation& wait, Clock& clock) const;

  private:
    /// Of each address the last ones, and of so many addresses: who waits for one forgotten comes
    /// after something not known.
    static constexpr std::size_t kMostWrites = 64;
    static constexpr std::size_t kMostAddresses = 4096;

    struct Write {
        ValueOperation operation;
        Clock clock;
    };
    struct Place {
        std::vector<Write> writes;  ///< in the order they were queued
        bool is_overwritten = false;
    };

    std::map<Address, Place> writes_;
};

}  // namespace cuward
