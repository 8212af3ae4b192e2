#include "core/resource/guard/guarded_blocks.hpp"

namespace cuward::guard {

// Live blocks

void LiveBlocks::add(const GuardedBlock& block) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = blocks_.try_emplace(block.ptr(), block);
    if (!is_new) {
        // The inner resource gives an address only when it is free: the old block has gone unseen.
        bytes_ -= place->second.bytes;
        place->second = block;
    }
    bytes_ += block.bytes;
}

std::optional<GuardedBlock> LiveBlocks::take(const BlockId& id) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(id.ptr);
    if (found == blocks_.end() || found->second.inner.generation != id.generation) {
        return std::nullopt;
    }
    const GuardedBlock block = found->second;
    blocks_.erase(found);
    bytes_ -= block.bytes;
    return block;
}

std::optional<GuardedBlock> LiveBlocks::find(const BlockId& id) const {
    const auto found = find(id.ptr);
    return found && found->inner.generation == id.generation ? found : std::nullopt;
}

std::optional<GuardedBlock> LiveBlocks::find(Address ptr) const {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(ptr);
    return found != blocks_.end() ? std::optional(found->second) : std::nullopt;
}

std::vector<GuardedBlock> LiveBlocks::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<GuardedBlock> blocks;
    blocks.reserve(blocks_.size());
    for (const auto& [ptr, block] : blocks_) {
        blocks.push_back(block);
    }
    return blocks;
}

bool LiveBlocks::mark_reported(const BlockId& id) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(id.ptr);
    return found != blocks_.end() && found->second.inner.generation == id.generation &&
           !std::exchange(found->second.is_reported, true);
}

std::size_t LiveBlocks::bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

// Quarantine

std::size_t Quarantine::bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

bool Quarantine::has_room_for(std::size_t bytes) const {
    const std::lock_guard lock(mutex_);
    return bytes <= limit_ && bytes_ <= limit_ - bytes;
}

void Quarantine::add_pending(HeldBlock held) {
    const std::lock_guard lock(mutex_);
    bytes_ += held.bytes();
    held.turn = ++turns_;
    pending_.push_back(held);
}

void Quarantine::add_complete(HeldBlock held) {
    const std::lock_guard lock(mutex_);
    bytes_ += held.bytes();
    if (held.turn == 0) {
        held.turn = ++turns_;
    }
    queue_of(held).push_back(held);
}

std::optional<HeldBlock> Quarantine::pop(Queue& queue) {
    const HeldBlock held = queue.front();
    queue.pop_front();
    bytes_ -= held.bytes();
    return held;
}

std::optional<HeldBlock> Quarantine::take_pending() {
    const std::lock_guard lock(mutex_);
    return pending_.empty() ? std::nullopt : pop(pending_);
}

void Quarantine::put_back_pending(HeldBlock held) {
    const std::lock_guard lock(mutex_);
    bytes_ += held.bytes();
    pending_.push_front(held);
}

std::optional<HeldBlock> Quarantine::take_oldest(std::size_t keep, bool may_wait) {
    const std::lock_guard lock(mutex_);
    if (inspections_ > 0 || bytes_ <= keep) {
        return std::nullopt;
    }
    const bool has_direct = may_wait && !direct_.empty();
    if (ordered_.empty() && !has_direct) {
        return std::nullopt;
    }
    const bool takes_direct =
        has_direct && (ordered_.empty() || direct_.front().turn < ordered_.front().turn);
    return pop(takes_direct ? direct_ : ordered_);
}

std::vector<HeldBlock> Quarantine::take_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    std::vector<HeldBlock> taken;
    for (Queue* const queue : {&pending_, &ordered_, &direct_}) {
        std::erase_if(*queue, [&](const HeldBlock& held) {
            if (held.block.context != context) {
                return false;
            }
            bytes_ -= held.bytes();
            taken.push_back(held);
            return true;
        });
    }
    return taken;
}

void Quarantine::count_inspections(int more) {
    const std::lock_guard lock(mutex_);
    inspections_ += more;
}

bool Quarantine::is_being_checked() const {
    const std::lock_guard lock(mutex_);
    return inspections_ > 0;
}

std::vector<HeldBlock> Quarantine::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<HeldBlock> blocks;
    for (const Queue* const queue : {&ordered_, &direct_}) {
        blocks.insert(blocks.end(), queue->begin(), queue->end());
    }
    return blocks;
}

bool Quarantine::mark_reported(const BlockId& id) {
    const std::lock_guard lock(mutex_);
    for (Queue* const queue : {&ordered_, &direct_}) {
        for (HeldBlock& held : *queue) {
            if (held.block.id() == id) {
                return std::exchange(held.is_poisoned, false);
            }
        }
    }
    return false;
}

}  // namespace cuward::guard
