// Which operation of each stream is known to be complete.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cuward {

/// Position of an operation in its stream, from 1.
using Epoch = std::uint64_t;

/// Index of a stream in the tracker's tables.
using StreamSlot = std::uint32_t;

/// Which operations are known complete: of every stream all up to the last one known, except for a
/// few that other threads were just queuing.
class Timeline {
  public:
    Epoch operator[](StreamSlot slot) const { return slot < epochs_.size() ? epochs_[slot] : 0; }
    bool covers(StreamSlot slot, Epoch epoch) const {
        return (*this)[slot] >= epoch && (exceptions_.empty() || !is_exception(slot, epoch));
    }
    /// Whether all of a stream up to `epoch` is known.
    bool covers_up_to(StreamSlot slot, Epoch epoch) const;
    /// Whether all that `other` knows is known here.
    bool covers(const Timeline& other) const;
    bool has_exceptions() const { return !exceptions_.empty(); }

    /// All of a stream up to `epoch` is complete.
    void raise(StreamSlot slot, Epoch epoch) {
        if (slot >= epochs_.size()) {
            epochs_.resize(slot + 1, 0);
        }
        epochs_[slot] = std::max(epochs_[slot], epoch);
        if (!exceptions_.empty()) {
            drop_exceptions(slot, epoch);
        }
    }
    /// Forgets what came after `epoch` in a stream.
    void lower(StreamSlot slot, Epoch epoch);
    /// Forgets one operation.
    void leave_out(StreamSlot slot, Epoch epoch);
    /// Returns whether anything became newer.
    bool join(const Timeline& other);

  private:
    struct Exception {
        StreamSlot slot;
        Epoch epoch;
    };

    bool is_exception(StreamSlot slot, Epoch epoch) const;
    void drop_exceptions(StreamSlot slot, Epoch up_to);
    bool join_exceptions(const Timeline& other);

    std::vector<Epoch> epochs_;
    std::vector<Exception> exceptions_;  ///< not known, although later ones of their streams are
};

/// What is known by documented edges alone, what is known when edges that only practice shows count
/// too (never less), and what waits of the tool's own add to that. The last is kept apart, so that
/// the same is found whether or not anything is repaired; it is empty where nothing has been.
struct Clock {
    Timeline documented;
    Timeline known;
    Timeline repaired;

    void raise(StreamSlot slot, Epoch epoch) {
        documented.raise(slot, epoch);
        known.raise(slot, epoch);
    }
    void lower(StreamSlot slot, Epoch epoch) {
        documented.lower(slot, epoch);
        known.lower(slot, epoch);
        repaired.lower(slot, epoch);
    }
    void leave_out(StreamSlot slot, Epoch epoch) {
        documented.leave_out(slot, epoch);
        known.leave_out(slot, epoch);
        repaired.leave_out(slot, epoch);
    }
    bool has_exceptions() const {
        return documented.has_exceptions() || known.has_exceptions() || repaired.has_exceptions();
    }
    /// Whether an operation is known to be complete, be it by the tool's doing.
    bool covers(StreamSlot slot, Epoch epoch) const {
        return known.covers(slot, epoch) || repaired.covers(slot, epoch);
    }
    bool covers_up_to(StreamSlot slot, Epoch epoch) const {
        return known.covers_up_to(slot, epoch) || repaired.covers_up_to(slot, epoch);
    }
    bool join(const Clock& other) {
        const bool newer = documented.join(other.documented);
        return join_implicit(other) || newer;
    }
    /// Joins by an edge that is not documented: what is documented stays.
    bool join_implicit(const Clock& other) {
        const bool newer = known.join(other.known);
        return repaired.join(other.repaired) || newer;
    }
};

}  // namespace cuward
