// Memory that is more than one address and one free: arrays with levels, physical memory and its
// mappings, variables of device code.
#include "core/tracker.hpp"
#include "core/tracker_state.hpp"

namespace cuward {

// The bytes that an address leads to

TrackedBlock* Tracker::State::block_at(Address address) {
    const auto mapping = mappings.find(address);
    return blocks.find(mapping ? mapping->translated(address) : address);
}

/// Makes an access by a mapped address one of the memory's own, and gives where it goes on.
std::optional<Address> Tracker::State::translate(MemoryAccess& access) const {
    const auto mapping = mappings.empty() ? std::nullopt : mappings.find(access.range.lo);
    if (!mapping) {
        return std::nullopt;
    }
    ByteRange& range = access.range;
    const bool goes_on = range.width == 0 || range.hi() > mapping->hi;
    if (goes_on && range.width != 0 && !range.is_linear()) {
        access.range_exact = false;
    }
    if (goes_on) {
        range = ByteRange::linear(range.lo, mapping->hi - range.lo);
    }
    range.lo = mapping->translated(range.lo);
    const bool has_next = goes_on && mapping->is_physical && mappings.find(mapping->hi);
    return has_next ? std::optional(mapping->hi) : std::nullopt;
}

bool Tracker::always_synchronizes(Address address) const {
    if (!may_be_tracked(address)) {
        return false;
    }
    const std::lock_guard lock(state_->mutex);
    const TrackedBlock* const block = state_->block_at(address);
    return block != nullptr && block->synchronizes;
}

void Tracker::set_always_synchronizes(Address ptr, bool synchronizes) {
    const std::lock_guard lock(state_->mutex);
    if (TrackedBlock* const block = state_->block_at(ptr)) {
        block->synchronizes = synchronizes;
    }
}

void Tracker::has_device_address(Address host, Address device) {
    const std::lock_guard lock(state_->mutex);
    const TrackedBlock* const block = state_->blocks.find(host);
    if (block == nullptr || host == device) {
        return;
    }
    const Address lo = device - (host - block->ptr);
    state_->mappings.add({.lo = lo, .hi = lo + block->bytes, .memory = block->ptr});
    state_->hull.add(lo, lo + block->bytes);
}

// Arrays

std::optional<ArrayPlace> Tracker::find_array(Address handle) const {
    const std::lock_guard lock(state_->mutex);
    return state_->blocks.find_array(handle);
}

void Tracker::array_level(Address handle, Address mipmapped, unsigned int level) {
    const std::lock_guard lock(state_->mutex);
    auto place = state_->blocks.find_array(mipmapped);
    if (!place) {
        return;
    }
    Address lo = place->range.lo;
    for (unsigned int above = 0; above < level; ++above) {
        lo += place->layout.bytes();
        place->layout = place->layout.next_level();
    }
    place->range = ByteRange::linear(lo, place->layout.bytes());
    state_->blocks.set_array(handle, *place);
}

// Physical memory (Driver API manual, "Virtual Memory Management")

void Tracker::mapped(Address ptr, std::uint64_t bytes, Address handle, std::uint64_t offset) {
    const std::lock_guard lock(state_->mutex);
    const Address start = state_->blocks.find_physical(handle);
    TrackedBlock* memory = state_->blocks.find_start(start);
    state_->blocks.forget_freed(ptr, ptr + bytes);
    if (state_->multicasts.contains(start)) {
        state_->mappings.add(
            {.lo = ptr, .hi = ptr + bytes, .memory = start + offset, .is_physical = true});
        state_->hull.add(ptr, ptr + bytes);
        return;
    }
    if (memory == nullptr || !state_->has_room(memory, offset + bytes)) {
        return;
    }
    ++memory->mappings;
    state_->mappings.add(
        {.lo = ptr, .hi = ptr + bytes, .memory = memory->ptr + offset, .is_physical = true});
    state_->hull.add(ptr, ptr + bytes);
}

/// The size of imported memory shows when it is mapped first.
bool Tracker::State::has_room(TrackedBlock*& memory, std::uint64_t bytes) {
    if (memory->bytes == 0) {
        TrackedBlock sized = blocks.remove(*memory);
        sized.ptr = 0;
        sized.bytes = bytes;
        live_bytes += bytes;
        memory = &blocks.add(std::move(sized));
    }
    return bytes <= memory->bytes;
}

void Tracker::physical_retained(Address handle, Address ptr) {
    const std::lock_guard lock(state_->mutex);
    TrackedBlock* const memory = state_->block_at(ptr);
    if (memory != nullptr && is_physical(memory->kind)) {
        ++memory->references;
        state_->blocks.set_physical(handle, memory->ptr);
    }
}

void Tracker::physical_released(Address handle, const CallSite& site) {
    const std::lock_guard lock(state_->mutex);
    const Address place = state_->blocks.find_physical(handle);
    TrackedBlock* const memory = state_->blocks.find_start(place);
    if (memory != nullptr && memory->references > 0) {
        --memory->references;
        state_->freed_if_unused(*memory, site);
    }
    const auto multicast = state_->multicasts.extract(place);
    const Address end = multicast.empty() ? place : place + multicast.mapped();
    if (place != end && !state_->mappings.leads_to(place, end)) {
        std::erase_if(state_->bindings, [&](const Mapping& binding) {
            return binding.lo >= place && binding.lo < end;
        });
    }
}

/// "The memory allocation will be freed when all outstanding mappings to the memory are unmapped
/// and when all outstanding references to the handle … are also released" (cuMemRelease).
void Tracker::State::freed_if_unused(TrackedBlock& memory, const CallSite& site) {
    if (memory.references == 0 && memory.mappings == 0) {
        freed(blocks.remove(memory),
              {.place = place_of("free", site), .stream = 0, .thread = site.thread}, site);
    }
}

// Multicast objects (Driver API manual, "Multicast Object Management")

void Tracker::multicast_created(Address handle, std::uint64_t bytes) {
    const std::lock_guard lock(state_->mutex);
    const Address place = state_->blocks.new_place(bytes);
    state_->blocks.set_physical(handle, place);
    state_->multicasts.emplace(place, bytes);
}

void Tracker::multicast_bound(Address handle, std::uint64_t offset, Address memory,
                              std::uint64_t memory_offset, std::uint64_t bytes) {
    const std::lock_guard lock(state_->mutex);
    const Address object = state_->blocks.find_physical(handle);
    const auto mapping = state_->mappings.find(memory_offset);
    const Address start = memory != 0 ? state_->blocks.find_physical(memory) + memory_offset
                          : mapping   ? mapping->translated(memory_offset)
                                      : memory_offset;
    if (state_->multicasts.contains(object) && state_->blocks.find(start) != nullptr) {
        state_->bindings.push_back(
            {.lo = object + offset, .hi = object + offset + bytes, .memory = start});
    }
}

void Tracker::multicast_unbound(Address handle, int device, std::uint64_t offset,
                                std::uint64_t bytes) {
    const std::lock_guard lock(state_->mutex);
    const Address lo = state_->blocks.find_physical(handle) + offset;
    std::erase_if(state_->bindings, [&](const Mapping& binding) {
        const TrackedBlock* const memory = state_->blocks.find(binding.memory);
        const bool is_on_device = memory == nullptr || memory->device == device;
        return binding.lo >= lo && binding.hi <= lo + bytes && is_on_device;
    });
}

/// Touches all memory that is bound where an access by a multicast object is.
std::optional<Address> Tracker::State::touch_bound(const Operation& operation,
                                                   const MemoryAccess& access,
                                                   PendingOperation& pending, PlaceId place) {
    bool is_bound = false;
    for (const Mapping& binding : bindings) {
        const Address lo = std::max(access.range.lo, binding.lo);
        const Address hi = std::min(access.range.hi(), binding.hi);
        if (lo < hi) {
            MemoryAccess there = access;
            there.range = ByteRange::linear(binding.translated(lo), hi - lo);
            there.range_exact = access.range_exact && access.range.is_linear();
            touch(operation, there, pending, place);
            is_bound = true;
        }
    }
    return is_bound ? std::nullopt : touch(operation, access, pending, place);
}

PendingUnmap Tracker::begin_unmap(Address ptr, std::uint64_t bytes, const CallSite& site) {
    const std::lock_guard lock(state_->mutex);
    PendingUnmap pending{
        .mappings = state_->mappings.remove(ptr, ptr + bytes), .missing = {}, .site = site};
    for (const Mapping& mapping : pending.mappings) {
        for (const Suspect& found : state_->check_unmapped(mapping, site)) {
            if (state_->is_to_repair(found.seen.verdict)) {
                add_missing(pending.missing, state_->point_of(found.earlier, found.epoch));
            }
        }
    }
    return pending;
}

/// Uses that may be running, of bytes that have this address only.
std::vector<Suspect> Tracker::State::check_unmapped(const Mapping& mapping, const CallSite& site) {
    std::vector<Suspect> found;
    const TrackedBlock* const memory = blocks.find(mapping.memory);
    if (memory == nullptr || mappings.leads_to(mapping.memory, mapping.memory_end())) {
        return found;
    }
    const Side unmapped{.place = place_of("free", site), .stream = 0, .thread = site.thread};
    memory->history.for_each_outstanding(order.host().known, [&](const PastAccess& use) {
        if (overlap(use.range, ByteRange::linear(mapping.memory, mapping.hi - mapping.lo))) {
            found.push_back({.seen = {.kind = FindingKind::FreedInFlight,
                                      .verdict = at_most(*memory, certainty_of(use)),
                                      .block = memory->serial,
                                      .block_start = memory->ptr,
                                      .block_bytes = memory->bytes,
                                      .ptr = mapping.lo,
                                      .sides = {Side::of(use), unmapped}},
                             .earlier = use.slot,
                             .epoch = use.epoch});
        }
    });
    return found;
}

void Tracker::end_unmap(const PendingUnmap& pending, bool succeeded, bool waited) {
    const std::lock_guard lock(state_->mutex);
    for (const Mapping& mapping : pending.mappings) {
        if (!succeeded) {
            state_->mappings.add(mapping);
            continue;
        }
        for (Suspect found : state_->check_unmapped(mapping, pending.site)) {
            found.seen.is_repaired = waited && state_->is_to_repair(found.seen.verdict);
            state_->findings.add(found.seen);
        }
        state_->remember_unmapped(mapping, pending.site);
    }
}

/// A use of the addresses is a use after free, whether or not the memory lives on.
void Tracker::State::remember_unmapped(const Mapping& mapping, const CallSite& site) {
    TrackedBlock* const memory = blocks.find(mapping.memory);
    if (memory == nullptr) {
        return;
    }
    blocks.remember_freed({.serial = memory->serial,
                           .ptr = mapping.lo,
                           .bytes = mapping.hi - mapping.lo,
                           .kind = memory->kind,
                           .place = place_of("free", site),
                           .thread = site.thread,
                           .allocated = memory->place,
                           .is_imported = memory->is_imported});
    --memory->mappings;
    freed_if_unused(*memory, site);
}

// Variables of device code

void Tracker::variable_found(const Allocation& variable) {
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->blocks.find_start(variable.ptr) != nullptr) {
            return;
        }
        state_->variables.emplace(variable.owner, variable.ptr);
    }
    allocated(variable);
}

void Tracker::code_unloading(std::uint64_t owner, const CallSite& site) {
    const std::lock_guard lock(state_->mutex);
    const auto [first, last] = state_->variables.equal_range(owner);
    for (auto variable = first; variable != last; ++variable) {
        const TrackedBlock* const block = state_->blocks.find_start(variable->second);
        if (block != nullptr && is_global(block->kind)) {
            state_->freed(
                state_->blocks.remove(*block),
                {.place = state_->place_of("free", site), .stream = 0, .thread = site.thread},
                site);
        }
    }
    state_->variables.erase(first, last);
}

}  // namespace cuward
