// What the tracker knows of guarded memory: which block it is, and who may have damaged it.
#include "core/tracker.hpp"
#include "core/tracker_state.hpp"

namespace cuward {

void Tracker::remember_recent_uses() {
    const std::lock_guard lock(state_->mutex);
    state_->remembers_uses = true;
}

std::optional<DeviceBlock> Tracker::find_owned(Address address) const {
    if (!may_be_tracked(address)) {
        return std::nullopt;
    }
    const std::lock_guard lock(state_->mutex);
    const TrackedBlock* const block = state_->blocks.find(address);
    if (block == nullptr || block->resource_block.device_ordinal < 0) {
        return std::nullopt;
    }
    return DeviceBlock{.ptr = block->ptr,
                       .device_ordinal = block->resource_block.device_ordinal,
                       .alloc_stream = block->resource_block.alloc_stream,
                       .bytes = block->bytes,
                       .generation = block->resource_block.generation};
}

/// What touched the block last may have done it; where nothing is known to have touched it, the
/// place of its allocation stands for the block.
template <typename Damaged>
void Tracker::State::report_damage(const Damaged& block, PlaceId allocated, Seen seen) {
    seen.verdict = Verdict::Proven;
    seen.block = block.serial;
    seen.block_start = block.ptr;
    seen.block_bytes = block.bytes;
    for (const PastAccess& use : block.recent) {
        seen.sides.push_back(Side::of(use));
    }
    if (seen.sides.empty()) {
        seen.sides.push_back({.place = allocated, .stream = 0, .thread = block.thread});
    }
    findings.add(seen);
}

// The block may be live, on its way through its free, or already freed.
void Tracker::written_out_of_bounds(const BlockId& id, Address first_bad) {
    const std::lock_guard lock(state_->mutex);
    const auto report = [&](const auto& block, PlaceId allocated) {
        // A copy past the end has been reported when it was made.
        if (first_bad < block.end() || !block.has_overrun) {
            state_->report_damage(block, allocated,
                                  {.kind = FindingKind::OutOfBounds,
                                   .ptr = first_bad,
                                   .sides = {},
                                   .found_by = "canary"});
        }
    };
    const TrackedBlock* const live = state_->blocks.find_start(id.ptr);
    if (live != nullptr && live->resource_block == id) {
        report(*live, live->place);
        return;
    }
    for (const auto& [serial, free] : state_->retired) {
        if (free.block.resource_block == id) {
            report(free.block, free.block.place);
            return;
        }
    }
    const FreedBlock* const freed = state_->blocks.find_freed(id.ptr);
    if (freed != nullptr && freed->generation == id.generation) {
        report(*freed, freed->allocated);
    }
}

void Tracker::written_after_free(const BlockId& id, Address first_bad) {
    const std::lock_guard lock(state_->mutex);
    const FreedBlock* const block = state_->blocks.find_freed(id.ptr);
    if (block == nullptr || block->generation != id.generation) {
        return;  // so many blocks were freed since that this one has been forgotten
    }
    state_->report_damage(
        *block, block->allocated,
        {.kind = FindingKind::UseAfterFree,
         .ptr = first_bad,
         .sides = {{.place = block->place, .stream = block->stream, .thread = block->thread}},
         .found_by = "poison"});
}

}  // namespace cuward
