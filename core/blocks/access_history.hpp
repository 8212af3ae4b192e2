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
    /// Epoch on `replaced_by_slot` of the access that stands for this one since, 0 while none does.
    Epoch replaced_by = 0;
    StreamSlot replaced_by_slot = 0;
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
    /// for. The latter stays aside until the access after, in case the operation of `next` fails.
    template <typename Visit>
    void add(const PastAccess& next, const Clock& clock, const Clock& host, Visit&& unordered) {
        PastAccess* const first = accesses_.data();
        PastAccess* const last = first + accesses_.size();
        PastAccess* kept = first;
        for (PastAccess* earlier = first; earlier != last; ++earlier) {
            // Of two accesses of one operation, both may stand for the same one.
            const bool is_replaced = earlier->replaced_by != 0 && !is_by(*earlier, next);
            if (is_replaced || host.documented[earlier->slot] >= earlier->epoch) {
                continue;
            }
            const bool is_ordered =
                earlier->slot == next.slot || clock.documented[earlier->slot] >= earlier->epoch;
            if (!is_ordered && conflict(*earlier, next)) {
                unordered(*earlier);
            }
            if (is_ordered && earlier->replaced_by == 0 && may_stand_for(next, *earlier) &&
                stands_for(next, *earlier)) {
                earlier->replaced_by = next.epoch;
                earlier->replaced_by_slot = next.slot;
            }
            if (kept != earlier) {
                *kept = *earlier;
            }
            ++kept;
        }
        accesses_.resize(static_cast<std::size_t>(kept - first));
        if (accesses_.size() < kMost) {
            accesses_.push_back(next);
        } else {
            accesses_[next_victim(next.slot)] = next;
        }
    }

    /// Visits every access that `complete` does not know complete by documented edges.
    template <typename Visit>
    void for_each_outstanding(const Timeline& complete, Visit&& visit) const {
        for (const PastAccess& access : accesses_) {
            if (access.replaced_by == 0 && complete[access.slot] < access.epoch) {
                visit(access);
            }
        }
    }

    /// Forgets the accesses of an operation that was not queued after all; what they stood for
    /// counts again.
    void withdraw(StreamSlot slot, Epoch epoch);

    /// Accesses that count.
    std::size_t size() const;

  private:
    static bool is_by(const PastAccess& replaced, const PastAccess& by) {
        return replaced.replaced_by == by.epoch && replaced.replaced_by_slot == by.slot;
    }
    /// A kernel surely touches what its pointer points to, and nothing else for certain. Looked at
    /// first, as blocks have many accesses at other addresses.
    static bool may_stand_for(const PastAccess& next, const PastAccess& earlier) {
        return next.range_exact || (!earlier.range_exact && next.range.lo == earlier.range.lo);
    }
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
