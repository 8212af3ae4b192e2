#include "core/blocks/tracked_blocks.hpp"

#include <algorithm>

namespace cuward {
namespace {

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

Address TrackedBlocks::new_place(std::uint64_t bytes) {
    constexpr std::uint64_t kGap = 4096;  // so that none touches the next
    const Address place = next_place_;
    next_place_ += (bytes / kGap + 2) * kGap;
    return place;
}

TrackedBlock& TrackedBlocks::add(TrackedBlock block) {
    if (block.handle != 0 && block.ptr == 0) {
        block.ptr = new_place(block.bytes);
        if (is_array(block.kind)) {
            set_array(block.handle,
                      {.range = ByteRange::linear(block.ptr, block.bytes), .layout = {}});
        } else {
            set_physical(block.handle, block.ptr);
        }
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

TrackedBlock* TrackedBlocks::find_start(Address ptr) {
    const auto found = blocks_.find(ptr);
    return found != blocks_.end() ? &found->second : nullptr;
}

TrackedBlock* TrackedBlocks::first_from(Address address) {
    const auto found = blocks_.lower_bound(address);
    return found != blocks_.end() ? &found->second : nullptr;
}

TrackedBlock TrackedBlocks::remove(const TrackedBlock& block) {
    const Address ptr = block.ptr;
    index_.outdate();
    return std::move(blocks_.extract(ptr).mapped());
}

void TrackedBlocks::remember_freed(const FreedBlock& freed) {
    if (freed_order_.size() == kMostFreed) {
        const FreedBlock oldest = freed_order_.front();
        freed_order_.pop_front();
        const auto found = freed_.find(oldest.ptr);
        if (found != freed_.end() && found->second.serial == oldest.serial) {
            freed_.erase(found);
        }
        forget_handle(oldest);
    }
    if (freed.kind == BlockKind::MipmappedArray) {
        // The handles of its levels ended with it.
        std::erase_if(arrays_, [&](const auto& entry) {
            const Address lo = entry.second.range.lo;
            return entry.first != freed.handle && lo >= freed.ptr && lo < freed.end();
        });
    }
    freed_order_.push_back(freed);
    forget_freed(freed.ptr, freed.end());
    freed_.insert_or_assign(freed.ptr, freed);
}

void TrackedBlocks::forget_handle(const FreedBlock& freed) {
    const auto array = arrays_.find(freed.handle);
    if (array != arrays_.end() && array->second.range.lo == freed.ptr) {
        arrays_.erase(array);
    }
    const auto physical = physical_.find(freed.handle);
    if (physical != physical_.end() && physical->second == freed.ptr) {
        physical_.erase(physical);
    }
}

std::optional<ArrayPlace> TrackedBlocks::find_array(Address handle) const {
    const auto found = arrays_.find(handle);
    return found != arrays_.end() ? std::optional(found->second) : std::nullopt;
}

void TrackedBlocks::set_array(Address handle, const ArrayPlace& place) {
    arrays_.insert_or_assign(handle, place);
}

Address TrackedBlocks::find_physical(Address handle) const {
    const auto found = physical_.find(handle);
    return found != physical_.end() ? found->second : 0;
}

const FreedBlock* TrackedBlocks::find_freed(Address address) const {
    return find_containing(freed_, address);
}

FreedBlock* TrackedBlocks::find_freed(Address address) {
    return find_containing(freed_, address);
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
