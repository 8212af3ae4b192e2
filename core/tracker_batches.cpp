// Copies of one batch that disturb each other: the batch is in the order of its stream, its copies
// have none (Driver API manual, cuMemcpyBatchAsync).
#include <algorithm>

#include "core/tracker_state.hpp"

namespace cuward {

/// Reports each that meets another, once. O(n log n) where few overlap.
void Tracker::State::check_batch(const Operation& operation, PendingOperation& pending,
                                 PlaceId place) {
    std::vector<PastAccess> uses;
    for (const MemoryAccess& access : operation.accesses) {
        if (const TrackedBlock* const block = blocks.find(access.range.lo)) {
            uses.push_back(describe(operation, access, pending.slot, pending.epoch, place));
            uses.back().range = clipped(uses.back().range, block->end());
        }
    }
    std::stable_sort(uses.begin(), uses.end(), [](const PastAccess& a, const PastAccess& b) {
        return a.range.lo < b.range.lo;
    });
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const PastAccess& use = uses[i];
        for (std::size_t j = i + 1; j < uses.size() && uses[j].range.lo < use.range.hi(); ++j) {
            if (!conflict(use, uses[j])) {
                continue;
            }
            const TrackedBlock& block = *blocks.find(use.range.lo);
            suspect(pending, {.seen = {.kind = FindingKind::Race,
                                       .verdict = verdict_of(use, uses[j]),
                                       .hazard = hazard_of(use.access, uses[j].access),
                                       .block = block.serial,
                                       .block_start = block.ptr,
                                       .block_bytes = block.bytes,
                                       .ptr = uses[j].range.lo,
                                       .sides = {Side::of(use), Side::of(uses[j])}}});
            break;
        }
    }
}

}  // namespace cuward
