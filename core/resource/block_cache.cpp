#include "core/resource/block_cache.hpp"

#include <algorithm>
#include <utility>

namespace cuward {

BlockCache::~BlockCache() {
    for (const Batch& batch : waiting_) {
        events_.destroy(batch.event);
    }
}

CUresult BlockCache::keep(const UsePoint& frees, Blocks blocks) {
    const auto event = events_.record(frees);
    if (!event) {
        return event.error();
    }
    const std::lock_guard lock(mutex_);
    waiting_.push_back({.event = *event, .frees = frees, .blocks = std::move(blocks)});
    return CUDA_SUCCESS;
}

std::optional<Address> BlockCache::take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = ready_.find(bytes);
    if (found == ready_.end() || found->second.empty()) {
        return std::nullopt;
    }
    const Address address = found->second.back().address;
    found->second.pop_back();
    ready_bytes_ -= bytes;
    return address;
}

std::size_t BlockCache::collect() {
    std::size_t bytes = 0;
    while (const std::optional<Batch> oldest = take_oldest()) {
        const CUresult result = driver_.event_query(oldest->event.event);
        const std::lock_guard lock(mutex_);
        if (result != CUDA_SUCCESS) {
            // Not done, or the context is broken, and then nothing there is used again.
            waiting_.push_front(*oldest);
            break;
        }
        events_.recycle(oldest->event);
        bytes += make_ready(oldest->blocks);
    }
    return bytes;
}

std::optional<BlockCache::Batch> BlockCache::take_oldest() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
        return std::nullopt;
    }
    Batch oldest = std::move(waiting_.front());
    waiting_.pop_front();
    return oldest;
}

std::size_t BlockCache::make_ready(const Blocks& blocks) {
    std::size_t bytes = 0;
    for (const Block& block : blocks) {
        ready_[block.bytes].push_back(block);
        ready_bytes_ += block.bytes;
        bytes += block.bytes;
    }
    return bytes;
}

BlockCache::Blocks BlockCache::take_surplus(std::size_t limit) {
    const std::lock_guard lock(mutex_);
    Blocks surplus;
    while (ready_bytes_ > limit) {
        const auto largest =
            std::max_element(ready_.begin(), ready_.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const Block& block : largest->second) {
            ready_bytes_ -= block.bytes;
            surplus.push_back(block);
        }
        ready_.erase(largest);
    }
    return surplus;
}

std::vector<BlockCache::Waiting> BlockCache::take_waiting() {
    std::deque<Batch> batches;
    {
        const std::lock_guard lock(mutex_);
        batches.swap(waiting_);
    }
    std::vector<Waiting> taken;
    for (Batch& batch : batches) {
        events_.recycle(batch.event);
        taken.push_back({.frees = batch.frees, .blocks = std::move(batch.blocks)});
    }
    return taken;
}

std::size_t BlockCache::forget_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    std::erase_if(waiting_, [&](const Batch& batch) {
        const bool is_gone = batch.frees.context == context;
        bytes += is_gone ? make_ready(batch.blocks) : 0;
        return is_gone;
    });
    return bytes;
}

bool BlockCache::contains(Address address) const {
    const auto is_there = [&](const Blocks& blocks) {
        return std::any_of(blocks.begin(), blocks.end(),
                           [&](const Block& block) { return block.address == address; });
    };
    const std::lock_guard lock(mutex_);
    return std::any_of(waiting_.begin(), waiting_.end(),
                       [&](const Batch& batch) { return is_there(batch.blocks); }) ||
           std::any_of(ready_.begin(), ready_.end(),
                       [&](const auto& entry) { return is_there(entry.second); });
}

}  // namespace cuward
