// The live blocks of a resource by address.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/resource/block_uses.hpp"
#include "core/resource/device_memory_resource.hpp"

namespace cuward {

/// How the driver gave a block, which says how it takes it back.
enum class BlockOrigin : std::uint8_t { Direct, StreamOrdered, Pooled };

struct BlockRecord {
    std::size_t bytes;
    StreamId alloc_stream;
    Generation generation;
    AllocTag tag;
    BlockOrigin origin;
    BlockUses uses;
};
static_assert(sizeof(BlockRecord) <= 96, "programs have millions of blocks");

/// Thread-safe. Actions run under the lock, so they must not call the driver (which may call back
/// into the tool) nor a UseOrder.
class BlockTable {
    using Map = std::unordered_map<Address, BlockRecord>;

  public:
    /// A block taken out of the table while the driver decides about it.
    using Taken = Map::node_type;

    /// Adds a block the driver has just handed out; gives the block that was taken to be live
    /// there.
    std::optional<BlockRecord> insert(Address address, BlockRecord record);

    /// Empty when the block is not live.
    Taken take(const BlockId& id);
    void put_back(Taken taken);

    /// Runs `action` on the record of a live block; false when the block is not live.
    template <typename Action>
    bool with(const BlockId& id, Action&& action) {
        const std::lock_guard lock(mutex_);
        const auto found = locate(id);
        if (found == blocks_.end()) {
            return false;
        }
        std::forward<Action>(action)(found->second);
        return true;
    }

    /// Runs `action` on the record of the live block that starts at `address`, if there is one.
    template <typename Action>
    void with_address(Address address, Action&& action) const {
        const std::lock_guard lock(mutex_);
        const auto found = blocks_.find(address);
        if (found != blocks_.end()) {
            std::forward<Action>(action)(found->second);
        }
    }

  private:
    Map::iterator locate(const BlockId& id);

    mutable std::mutex mutex_;
    Map blocks_;
};

}  // namespace cuward
