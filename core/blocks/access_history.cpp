#include "core/blocks/access_history.hpp"

#include <algorithm>

namespace cuward {

namespace {

/// Whether `next` would be a hazard against whatever `earlier` is one against, and no less certain
/// a one, where it touches the same bytes.
template <typename Earlier>
bool counts_as_much(const PastAccess& next, const Earlier& earlier) {
    const bool is_less_certain = (!next.direction_known && earlier.direction_known) ||
                                 (!next.range_exact && earlier.range_exact) ||
                                 (next.is_conditional && !earlier.is_conditional) ||
                                 (next.is_value && !earlier.is_value);
    if (is_less_certain) {
        return false;
    }
    // A read meets only writes: it cannot stand for a write, and one of another stream is no proof
    // that this stream's next work waits for it.
    return writes(next.access) || (!writes(earlier.access) && next.slot == earlier.slot);
}

}  // namespace

bool conflict(const PastAccess& a, const PastAccess& b) {
    if (a.is_value && b.is_value) {
        return false;  // that is how they are ordered
    }
    return (writes(a.access) || writes(b.access)) && overlap(a.range, b.range);
}

bool AccessHistory::stands_for(const PastAccess& next, const PastAccess& earlier) {
    return counts_as_much(next, earlier) && covers(next.range, earlier.range);
}

AccessHistory::Key AccessHistory::Key::of(const PastAccess& access) {
    return {.epoch = access.epoch,
            .slot = access.slot,
            .linear_bytes = access.range.is_linear() ? access.range.width : 0,
            .access = access.access,
            .direction_known = access.direction_known,
            .range_exact = access.range_exact,
            .is_conditional = access.is_conditional,
            .is_value = access.is_value};
}

std::size_t AccessHistory::size() const {
    return entries_ != nullptr ? entries_->keys.size() - entries_->aside.size() : 0;
}

bool AccessHistory::add_in_order(const PastAccess& next, const Clock& clock, const Clock& host,
                                 const CallsUnderWay& calls) {
    Entries& entries = *entries_;
    const std::size_t count = entries.keys.size();
    if (count == 0 || next.range_exact || !entries.are_of_one_stream ||
        entries.keys.front().slot != next.slot || host.documented[next.slot] >= entries.oldest ||
        !clock.documented.covers_up_to(next.slot, entries.newest)) {
        return false;
    }
    // What was set aside first makes room, if that was for an earlier operation.
    const std::size_t room = entries.aside.empty() ? count : entries.aside.front();
    const bool has_room = room < count && gives_way_to(entries.keys[room], next, calls);
    for (std::size_t i = 0; i < count; ++i) {
        if (entries.starts[i] == next.range.lo && entries.replace(i, next)) {
            entries.aside.push_back(static_cast<std::uint8_t>(i));
        }
    }
    if (has_room) {
        entries.set(room, next);
    } else {
        entries.put(next);
    }
    return true;
}

void AccessHistory::withdraw(StreamSlot slot, Epoch epoch) {
    if (entries_ == nullptr) {
        return;
    }
    ++changes_;
    std::vector<Key>& keys = entries_->keys;
    for (Key& key : keys) {
        if (key.replaced_by == epoch && key.replaced_by_slot == slot) {
            key.replaced_by = 0;
        }
    }
    entries_->keep([&](std::size_t i) { return keys[i].slot != slot || keys[i].epoch != epoch; });
}

void AccessHistory::renew(StreamSlot slot, Epoch from, Epoch to) {
    if (entries_ == nullptr) {
        return;
    }
    entries_->keep([&](std::size_t i) {
        Key& key = entries_->keys[i];
        if (key.slot == slot && key.epoch == from) {
            key.epoch = to;
            entries_->accesses[i].epoch = to;
        }
        if (key.replaced_by_slot == slot && key.replaced_by == from) {
            key.replaced_by = to;
        }
        return true;
    });
}

/// Whether `next`, which it is ordered before, stands for the access from now on. A kernel surely
/// touches what its pointer points to, and nothing else for certain.
bool AccessHistory::Entries::replace(std::size_t at, const PastAccess& next) {
    Key& key = keys[at];
    const bool starts_there = next.range.lo == starts[at];
    const bool may_stand_for = next.range_exact || starts_there;
    if (key.replaced_by != 0 || !may_stand_for || !counts_as_much(next, key)) {
        return false;
    }
    const bool decides_here = starts_there && key.linear_bytes != 0 && next.range.is_linear();
    const bool is_covered = decides_here ? key.linear_bytes <= next.range.width
                                         : covers(next.range, accesses[at].range);
    if (is_covered) {
        key.replaced_by = next.epoch;
        key.replaced_by_slot = next.slot;
    }
    return is_covered;
}

void AccessHistory::Entries::put(const PastAccess& next) {
    if (keys.size() < kMost) {
        starts.push_back(next.range.lo);
        keys.push_back(Key::of(next));
        accesses.push_back(next);
        summarize(keys.size() - 1);
    } else {
        set(next_victim(next.slot), next);
    }
}

void AccessHistory::Entries::set(std::size_t at, const PastAccess& next) {
    if (keys[at].replaced_by != 0) {
        std::erase(aside, static_cast<std::uint8_t>(at));
    }
    starts[at] = next.range.lo;
    keys[at] = Key::of(next);
    accesses[at] = next;
    summarize(at);
}

void AccessHistory::Entries::forget_summary() {
    are_of_one_stream = true;
    oldest = ~Epoch{0};
    newest = 0;
    aside.clear();
}

void AccessHistory::Entries::summarize(std::size_t at) {
    are_of_one_stream = are_of_one_stream && keys[at].slot == keys.front().slot;
    oldest = std::min(oldest, keys[at].epoch);
    newest = std::max(newest, keys[at].epoch);
    if (keys[at].replaced_by != 0) {
        aside.push_back(static_cast<std::uint8_t>(at));
    }
}

/// Which access to forget for one more of stream `slot`: in turn, those of the same stream first,
/// so that a busy stream does not push out what others have outstanding.
std::size_t AccessHistory::Entries::next_victim(StreamSlot slot) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        turn = (turn + 1) % kMost;
        if (keys[turn].slot == slot) {
            return turn;
        }
    }
    return turn;
}

}  // namespace cuward
