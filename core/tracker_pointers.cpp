// What kernels reach through addresses in the memory they are given.
#include "core/tracker_state.hpp"

namespace cuward {
namespace {

constexpr std::uint64_t kWord = sizeof(Address);

/// How many blocks that hold pointers are followed in a row, as in linked structures.
constexpr std::size_t kMostFollowed = 16;

bool is_exact_write(const MemoryAccess& access) {
    return access.range_exact && access.access == Access::Write;
}

}  // namespace

/// The pointers that a copy within the device takes along.
std::vector<StoredAddress> Tracker::State::carried_pointers(const Operation& operation) {
    const std::span<const MemoryAccess> accesses = operation.accesses;
    if (operation.kind != OperationKind::Copy || accesses.size() != 2 ||
        !accesses[0].range.is_linear() || !is_exact_write(accesses[1])) {
        return {};
    }
    const ByteRange& from = accesses[0].range;
    const TrackedBlock* const source = blocks.find(from.lo);
    const Address to = accesses[1].range.lo;
    if (source == nullptr || source->pointers == nullptr || (to - from.lo) % kWord != 0 ||
        from.width < kWord) {
        return {};
    }
    std::vector<StoredAddress> carried;
    const std::uint64_t begin = from.lo - source->ptr;
    for (const HeldPointer& pointer :
         source->pointers->within(begin, begin + from.width - kWord + 1)) {
        carried.push_back({.place = to + (pointer.offset - begin),
                           .value = pointer.address,
                           .begins_a_table = pointer.begins_a_table});
    }
    return carried;
}

/// What a copy or memset overwrites is gone; what it brings, from the device or as the operation
/// says from the host, is there.
void Tracker::State::move_pointers(const Operation& operation) {
    const std::vector<StoredAddress> carried = carried_pointers(operation);
    for (const MemoryAccess& access : operation.accesses) {
        TrackedBlock* const block = is_exact_write(access) ? blocks.find(access.range.lo) : nullptr;
        if (block != nullptr && block->pointers != nullptr) {
            ByteRange offsets = access.range;
            offsets.lo -= block->ptr;
            block->pointers->overwrite(offsets);
        }
    }
    hold_pointers(carried);
    hold_pointers(operation.stored);
}

void Tracker::State::hold_pointers(std::span<const StoredAddress> stored) {
    TrackedBlock* const holder = stored.empty() ? nullptr : blocks.find(stored.front().place);
    if (holder == nullptr) {
        return;
    }
    std::vector<HeldPointer> held;
    for (const StoredAddress& pointer : stored) {
        const TrackedBlock* const target = blocks.find(pointer.value);
        if (target != nullptr && pointer.place < holder->end()) {
            held.push_back({.offset = pointer.place - holder->ptr,
                            .address = pointer.value,
                            .target = target->serial,
                            .begins_a_table = pointer.begins_a_table});
        }
    }
    if (held.empty()) {
        return;
    }
    if (holder->pointers == nullptr) {
        holder->pointers = std::make_unique<PointerTable>();
        holds_pointers = true;
    }
    holder->pointers->hold(held);
}

/// A kernel that is given a block may touch what the block points to, and what that points to. How
/// it uses the former its parameter may say; of the latter nothing is known.
void Tracker::State::touch_reached(const Operation& operation, const MemoryAccess& access,
                                   PendingOperation& pending, PlaceId place) {
    struct Holder {
        TrackedBlock* block;
        std::uint64_t offset;
    };
    TrackedBlock* const first = blocks.find(access.range.lo);
    if (first == nullptr || first->pointers == nullptr) {
        return;
    }
    std::vector<Holder> holders{{first, access.range.lo - first->ptr}};
    for (std::size_t i = 0; i < holders.size(); ++i) {
        for (const Reached& reached : holders[i].block->pointers->reached_from(holders[i].offset)) {
            TrackedBlock* const target = blocks.find(reached.address);
            if (target == nullptr || target->serial != reached.target) {
                continue;  // has been freed
            }
            touch(operation,
                  {.range = {.lo = reached.address},
                   .access = i == 0 ? access.pointee : Access::ReadWrite,
                   .direction_known = i == 0 && access.pointee_known && reached.is_given,
                   .range_exact = false,
                   .is_conditional = access.is_conditional,
                   .node = access.node},
                  pending, place);
            const bool is_known =
                std::any_of(holders.begin(), holders.end(),
                            [&](const Holder& holder) { return holder.block == target; });
            if (target->pointers != nullptr && !is_known && holders.size() < kMostFollowed) {
                holders.push_back({target, 0});
            }
        }
    }
}

}  // namespace cuward
