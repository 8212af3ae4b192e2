// What may still be running on one block: its last writes and outstanding reads, with their bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "core/operation.hpp"
#include "core/order/calls_under_way.hpp"
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
    bool is_conditional = false;  ///< may not happen
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
    /// for. The latter stays aside until the access after, in case the operation of `next` fails,
    /// and counts as long as that is among the `calls` under way: those whose turn comes before it
    /// do not come after what it waits for.
    template <typename Visit>
    void add(const PastAccess& next, const Clock& clock, const Clock& host,
             const CallsUnderWay& calls, Visit&& unordered) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            Key& key = keys_[i];
            // Of two accesses of one operation, both may stand for the same one.
            const bool is_replaced = key.replaced_by != 0 && !is_by(key, next) &&
                                     !calls.contains(key.replaced_by_slot, key.replaced_by);
            if (is_replaced || host.documented.covers(key.slot, key.epoch)) {
                continue;
            }
            const bool is_ordered = clock.documented.covers(key.slot, key.epoch);
            if (!is_ordered && conflict(accesses_[i], next)) {
                unordered(accesses_[i]);
            }
            if (is_ordered && key.replaced_by == 0 && may_stand_for(next, key) &&
                stands_for(next, accesses_[i])) {
                key.replaced_by = next.epoch;
                key.replaced_by_slot = next.slot;
            }
            move_to(kept++, i);
        }
        keys_.resize(kept);
        accesses_.resize(kept);
        put(next);
    }

    /// Visits every access that `complete` does not know complete by documented edges.
    template <typename Visit>
    void for_each_outstanding(const Timeline& complete, Visit&& visit) const {
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            if (keys_[i].replaced_by == 0 && !complete.covers(keys_[i].slot, keys_[i].epoch)) {
                visit(accesses_[i]);
            }
        }
    }

    /// Whether every later access that would be a hazard against `earlier`, which is ordered before
    /// `next`, would be one against `next` too, and no less certain a one.
    static bool stands_for(const PastAccess& next, const PastAccess& earlier);

    /// Forgets the accesses of an operation that was not queued after all; what they stood for
    /// counts again.
    void withdraw(StreamSlot slot, Epoch epoch);

    /// Accesses that count.
    std::size_t size() const;

  private:
    /// What decides about most accesses, apart from the rest of them: programs with few large
    /// blocks look through a full history for every launch.
    struct Key {
        Address lo = 0;
        Epoch epoch = 0;
        StreamSlot slot = 0;
        /// Epoch on `replaced_by_slot` of the access that stands for this one since, 0 while none
        /// does.
        StreamSlot replaced_by_slot = 0;
        Epoch replaced_by = 0;
    };

    static bool is_by(const Key& replaced, const PastAccess& by) {
        return replaced.replaced_by == by.epoch && replaced.replaced_by_slot == by.slot;
    }
    /// A kernel surely touches what its pointer points to, and nothing else for certain. Looked at
    /// first, as blocks have many accesses at other addresses.
    static bool may_stand_for(const PastAccess& next, const Key& earlier) {
        return next.range_exact || next.range.lo == earlier.lo;
    }
    /// Which access to forget for one more of stream `slot`: in turn, those of the same stream
    /// first, so that a busy stream does not push out what others have outstanding.
    std::size_t next_victim(StreamSlot slot);

    void put(const PastAccess& next);
    void move_to(std::size_t place, std::size_t from) {
        if (place != from) {
            keys_[place] = keys_[from];
            accesses_[place] = accesses_[from];
        }
    }

    std::vector<Key> keys_;
    std::vector<PastAccess> accesses_;  ///< one for each key
    std::uint32_t turn_ = 0;
};

}  // namespace cuward
