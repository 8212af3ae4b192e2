// What may still be running on one block: its last writes and outstanding reads, with their bytes.
#pragma once

#include <vector>

#include "core/operation.hpp"
#include "core/order/clock.hpp"

namespace cuward {

/// Index of a place in the program, see core/checks/places.hpp.
enum class PlaceId : std::uint32_t {};

struct PastAccess {
    ByteRange range;  ///< never of width 0: reaches at most to the end of the block
    Epoch epoch = 0;
    StreamSlot slot = 0;
    PlaceId place{};
    std::uint32_t stream = 0;  ///< the stream's id in the log
    std::uint32_t thread = 0;
    Dim3 grid{};
    Dim3 threads{};
    Access access = Access::ReadWrite;
    bool direction_known = true;
    bool range_exact = true;
};

/// Whether two accesses can disturb each other at all.
bool conflict(const PastAccess& a, const PastAccess& b);

class AccessHistory {
  public:
    /// Enough for the chunks a program works on at once; past it an old access is forgotten.
    static constexpr std::size_t kMost = 64;

    /// Calls `unordered(earlier)` for every past access that conflicts with `next` and that the
    /// clock of its stream, `clock`, does not know complete by documented edges; then adds `next`
    /// and drops what can no longer matter: what the host knows complete, and what `next` stands
    /// for.
    template <typename Visit>
    void add(const PastAccess& next, const Clock& clock, const Clock& host, Visit&& unordered) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < accesses_.size(); ++i) {
            const PastAccess& earlier = accesses_[i];
            const bool is_complete = host.documented[earlier.slot] >= earlier.epoch;
            const bool is_ordered =
                earlier.slot == next.slot || clock.documented[earlier.slot] >= earlier.epoch;
            if (!is_complete && !is_ordered && conflict(earlier, next)) {
                unordered(earlier);
            }
            if (is_complete || (is_ordered && stands_for(next, earlier))) {
                continue;
            }
            if (kept != i) {
                accesses_[kept] = earlier;
            }
            ++kept;
        }
        accesses_.resize(kept);
        if (kept < kMost) {
            accesses_.push_back(next);
        } else {
            accesses_[next_victim(next.slot)] = next;
        }
    }

    /// Visits every access that `complete` does not know complete by documented edges.
    template <typename Visit>
    void for_each_outstanding(const Timeline& complete, Visit&& visit) const {
        for (const PastAccess& access : accesses_) {
            if (complete[access.slot] < access.epoch) {
                visit(access);
            }
        }
    }

    /// Forgets the accesses of an operation that was not queued after all.
    void withdraw(StreamSlot slot, Epoch epoch);

    std::size_t size() const { return accesses_.size(); }

  private:
    /// Whether every later access that would be a hazard against `earlier`, which is ordered before
    /// `next`, would be one against `next` too, and no less certain a one.
    static bool stands_for(const PastAccess& next, const PastAccess& earlier);

    /// Which access to forget for one more of stream `slot`: in turn, those of the same stream
    /// first, so that a busy stream does not push out what others have outstanding.
    std::size_t next_victim(StreamSlot slot);

    std::vector<PastAccess> accesses_;
    std::uint32_t turn_ = 0;
};

}  // namespace cuward
