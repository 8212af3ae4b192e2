// Which operation of each stream is known to be complete.
#pragma once

#include <cstdint>
#include <vector>

namespace cuward {

/// Position of an operation in its stream, from 1.
using Epoch = std::uint64_t;

/// Index of a stream in the tracker's tables.
using StreamSlot = std::uint32_t;

/// For every stream the last operation known complete.
class Timeline {
  public:
    Epoch operator[](StreamSlot slot) const { return slot < epochs_.size() ? epochs_[slot] : 0; }
    void raise(StreamSlot slot, Epoch epoch);
    void lower(StreamSlot slot, Epoch epoch);
    /// Returns whether anything became newer.
    bool join(const Timeline& other);
    /// Whether all that `other` knows is known here.
    bool covers(const Timeline& other) const;

  private:
    std::vector<Epoch> epochs_;
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
    /// Forgets what came after `epoch` in a stream.
    void lower(StreamSlot slot, Epoch epoch) {
        documented.lower(slot, epoch);
        known.lower(slot, epoch);
        repaired.lower(slot, epoch);
    }
    /// Whether an operation is known to be complete, be it by the tool's doing.
    bool covers(StreamSlot slot, Epoch epoch) const {
        return known[slot] >= epoch || repaired[slot] >= epoch;
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
