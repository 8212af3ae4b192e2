#include "core/blocks/tracked_blocks.hpp"

#include <algorithm>

namespace cuward {
namespace {

bool is_array(BlockKind kind) {
    return kind == BlockKind::Array || kind == BlockKind::MipmappedArray;
}

/// The entry of an ordered map whose range contains the address.
template <typename Map>
auto find_containing(Map& map, Address address) -> decltype(&map.begin()->second) {
    auto after = map.upper_bound(address);
    if (after == map.begin()) {
        return nullptr;
    }
    auto& candidate = std::prev(after)->second;
    return address < candidate.end() ? &candidate : nullptr;
}

}  // namespace

TrackedBlock& TrackedBlocks::add(TrackedBlock block) {
    if (block.is_array()) {
        freed_arrays_.erase(block.ptr);
        return arrays_.insert_or_assign(block.ptr, std::move(block)).first->second;
    }
    forget_freed(block.ptr, block.end());
    index_.outdate();
    return blocks_.insert_or_assign(block.ptr, std::move(block)).first->second;
}

TrackedBlock* TrackedBlocks::find(Address address) {
    if (!index_.starts.empty()) {
        return find_in_index(address);
    }
    if (++index_.searches > blocks_.size()) {
        make_index();
    }
    return find_containing(blocks_, address);
}

TrackedBlock* TrackedBlocks::find_in_index(Address address) {
    const std::vector<Address>& starts = index_.starts;
    const auto after = std::upper_bound(starts.begin(), starts.end(), address);
    if (after == starts.begin()) {
        return nullptr;
    }
    TrackedBlock* const block = index_.blocks[static_cast<std::size_t>(after - starts.begin()) - 1];
    return address < block->end() ? block : nullptr;
}

void TrackedBlocks::make_index() {
    index_.outdate();
    for (auto& [start, block] : blocks_) {
        index_.starts.push_back(start);
        index_.blocks.push_back(&block);
    }
}

void TrackedBlocks::Index::outdate() {
    starts.clear();
    blocks.clear();
    searches = 0;
}

TrackedBlock* TrackedBlocks::find_start(Address ptr, bool array) {
    if (array) {
        const auto found = arrays_.find(ptr);
        return found != arrays_.end() ? &found->second : nullptr;
    }
    const auto found = blocks_.find(ptr);
    return found != blocks_.end() ? &found->second : nullptr;
}

TrackedBlock TrackedBlocks::remove(const TrackedBlock& block) {
    const Address ptr = block.ptr;
    if (block.is_array()) {
        return std::move(arrays_.extract(ptr).mapped());
    }
    index_.outdate();
    return std::move(blocks_.extract(ptr).mapped());
}

void TrackedBlocks::remember_freed(const FreedBlock& freed) {
    if (freed_order_.size() == kMostFreed) {
        const FreedBlock oldest = freed_order_.front();
        freed_order_.pop_front();
        const auto forget = [&](auto& map) {
            const auto found = map.find(oldest.ptr);
            if (found != map.end() && found->second.serial == oldest.serial) {
                map.erase(found);
            }
        };
        is_array(oldest.kind) ? forget(freed_arrays_) : forget(freed_);
    }
    freed_order_.push_back(freed);
    if (is_array(freed.kind)) {
        freed_arrays_.insert_or_assign(freed.ptr, freed);
        return;
    }
    forget_freed(freed.ptr, freed.end());
    freed_.insert_or_assign(freed.ptr, freed);
}

const FreedBlock* TrackedBlocks::find_freed(Address address) const {
    return find_containing(freed_, address);
}

FreedBlock* TrackedBlocks::find_freed(Address address) {
    return find_containing(freed_, address);
}

const FreedBlock* TrackedBlocks::find_freed_array(Address handle) const {
    const auto found = freed_arrays_.find(handle);
    return found != freed_arrays_.end() ? &found->second : nullptr;
}

void TrackedBlocks::forget_freed(Address lo, Address hi) {
    auto first = freed_.upper_bound(lo);
    if (first != freed_.begin() && std::prev(first)->second.end() > lo) {
        --first;
    }
    while (first != freed_.end() && first->first < hi) {
        first = freed_.erase(first);
    }
}

}  // namespace cuward
