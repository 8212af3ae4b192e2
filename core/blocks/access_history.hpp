// What may still be running on one block: its last writes and outstanding reads, with their bytes.
#pragma once

#include <cstddef>
#include <memory>
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
    bool is_value = false;        ///< written for those who wait for it, or waited for
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
        if (entries_ == nullptr) {
            entries_ = std::make_unique<Entries>();
        }
        ++changes_;
        if (!add_in_order(next, clock, host, calls)) {
            entries_->visit(next, clock, host, calls, unordered);
            entries_->put(next);
        }
    }

    /// Visits every access that `complete` does not know complete by documented edges.
    template <typename Visit>
    void for_each_outstanding(const Timeline& complete, Visit&& visit) const {
        for (std::size_t i = 0; i < recorded(); ++i) {
            const Key& key = entries_->keys[i];
            if (key.replaced_by == 0 && !complete.covers(key.slot, key.epoch)) {
                visit(entries_->accesses[i]);
            }
        }
    }

    /// Whether every later access that would be a hazard against `earlier`, which is ordered before
    /// `next`, would be one against `next` too, and no less certain a one.
    static bool stands_for(const PastAccess& next, const PastAccess& earlier);

    /// Forgets the accesses of an operation that was not queued after all; what they stood for
    /// counts again.
    void withdraw(StreamSlot slot, Epoch epoch);

    /// An operation that did what `from` of the same stream did, and comes after that and after
    /// everything here, has taken its place.
    void renew(StreamSlot slot, Epoch from, Epoch to);

    /// Grows with every access that is added or withdrawn.
    std::uint64_t changes() const { return changes_; }

    /// Accesses that count.
    std::size_t size() const;

  private:
    /// What decides about most accesses, apart from the rest of them.
    struct Key {
        Epoch epoch = 0;
        /// Epoch on `replaced_by_slot` of the access that stands for this one since, 0 while none
        /// does.
        Epoch replaced_by = 0;
        StreamSlot replaced_by_slot = 0;
        StreamSlot slot = 0;
        std::uint64_t linear_bytes = 0;  ///< of a linear range, otherwise 0
        Access access = Access::ReadWrite;
        bool direction_known = true;
        bool range_exact = true;
        bool is_conditional = false;
        bool is_value = false;

        static Key of(const PastAccess& access);
    };

    /// In parallel, as where it starts decides about most accesses: programs with few large blocks
    /// look through a full history for every launch.
    struct Entries {
        std::vector<Address> starts;
        std::vector<Key> keys;
        std::vector<PastAccess> accesses;
        std::uint32_t turn = 0;

        // Of all that are kept:
        bool are_of_one_stream = true;
        Epoch oldest = ~Epoch{0};         ///< no operation is older …
        Epoch newest = 0;                 ///< … and none newer, if they are of one stream
        std::vector<std::uint8_t> aside;  ///< those that another access stands for

        template <typename Visit>
        void visit(const PastAccess& next, const Clock& clock, const Clock& host,
                   const CallsUnderWay& calls, Visit&& unordered) {
            keep([&](std::size_t i) {
                const Key& key = keys[i];
                if (gives_way_to(key, next, calls) || host.documented.covers(key.slot, key.epoch)) {
                    return false;
                }
                if (clock.documented.covers(key.slot, key.epoch)) {
                    replace(i, next);
                } else if (conflict(accesses[i], next)) {
                    unordered(accesses[i]);
                }
                return true;
            });
        }

        /// Drops those for which `wanted(index)` is false.
        template <typename Wanted>
        void keep(Wanted&& wanted) {
            const std::size_t count = keys.size();
            std::size_t kept = 0;
            forget_summary();
            for (std::size_t i = 0; i < count; ++i) {
                if (wanted(i)) {
                    move_to(kept, i);
                    summarize(kept++);
                }
            }
            starts.resize(kept);
            keys.resize(kept);
            accesses.resize(kept);
        }
        bool replace(std::size_t at, const PastAccess& next);
        void put(const PastAccess& next);
        void set(std::size_t at, const PastAccess& next);

      private:
        void forget_summary();
        void summarize(std::size_t at);
        std::size_t next_victim(StreamSlot slot);
        void move_to(std::size_t place, std::size_t from) {
            if (place != from) {
                starts[place] = starts[from];
                keys[place] = keys[from];
                accesses[place] = accesses[from];
            }
        }
    };

    /// Whether another access has taken its place for good: not one of the same operation, as both
    /// may stand for this one, nor one whose call may still fail or be overtaken.
    static bool gives_way_to(const Key& key, const PastAccess& next, const CallsUnderWay& calls) {
        const bool is_by_next = key.replaced_by == next.epoch && key.replaced_by_slot == next.slot;
        return key.replaced_by != 0 && !is_by_next &&
               !calls.contains(key.replaced_by_slot, key.replaced_by);
    }

    /// Adds an access of a kernel to those of the same stream, which are all before it, while the
    /// host knows none complete. False if that is not so; nothing has been done then.
    bool add_in_order(const PastAccess& next, const Clock& clock, const Clock& host,
                      const CallsUnderWay& calls);
    std::size_t recorded() const { return entries_ != nullptr ? entries_->keys.size() : 0; }

    std::unique_ptr<Entries> entries_;  ///< none while the block has not been used
    std::uint64_t changes_ = 0;
};

}  // namespace cuward
