// Blocks that the program has given back and the driver has not yet: collected, as one look at what
// they have to wait for serves many.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "core/resource/block_table.hpp"

namespace cuward {

/// Thread-safe.
class RetiredBlocks {
  public:
    using Batch = std::vector<BlockTable::Taken>;

    /// Beyond so many blocks or bytes a batch is due. Few enough not to miss the memory: a program
    /// that frees large blocks has each of them freed at once.
    static constexpr std::size_t kMostBlocks = 32;
    static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

    void add(BlockTable::Taken block) {
        const std::lock_guard lock(mutex_);
        bytes_ += block.mapped().bytes;
        blocks_.push_back(std::move(block));
        ++count_;
    }

    void add(Batch&& batch) {
        for (BlockTable::Taken& block : batch) {
            add(std::move(block));
        }
    }

    bool empty() const { return count_ == 0; }
    bool contains(Address address) const {
        const std::lock_guard lock(mutex_);
        return std::any_of(blocks_.begin(), blocks_.end(),
                           [&](const BlockTable::Taken& block) { return block.key() == address; });
    }
    bool is_due() const { return count_ >= kMostBlocks || bytes_ >= kMostBytes; }

    Batch take_all() {
        const std::lock_guard lock(mutex_);
        count_ = 0;
        bytes_ = 0;
        return std::exchange(blocks_, {});
    }

  private:
    mutable std::mutex mutex_;
    Batch blocks_;
    std::atomic<std::size_t> count_{0};
    std::atomic<std::size_t> bytes_{0};
};

}  // namespace cuward
