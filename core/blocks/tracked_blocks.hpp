// Which block is at an address: the live ones, and those freed most recently. Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/blocks/access_history.hpp"
#include "core/blocks/pointer_table.hpp"
#include "core/blocks/recent_uses.hpp"
#include "core/operation.hpp"

namespace cuward {

struct TrackedBlock {
    std::uint64_t serial = 0;  ///< its id in the log
    Address ptr = 0;
    std::uint64_t bytes = 0;
    ContextId context = 0;
    BlockId resource_block;
    AccessHistory history;
    std::unique_ptr<PointerTable> pointers{};  ///< null while it is not known to hold any
    RecentUses recent{};  ///< empty unless the tracker was told to remember them
    BlockKind kind = BlockKind::Device;
    bool free_waits_for_device = true;  ///< where a free of this kind of memory usually does
    std::int16_t device = -1;
    std::uint32_t thread = 0;
    PlaceId place{};
    std::uint32_t stream = 0;  ///< log id of the stream it is ordered on
    StreamSlot slot = 0;
    Epoch epoch = 0;           ///< of the stream-ordered allocation on `slot`; 0: usable at once
    bool has_overrun = false;  ///< a copy or memset past its end has been reported

    Address end() const { return ptr + bytes; }
    bool is_array() const { return kind == BlockKind::Array || kind == BlockKind::MipmappedArray; }
};

/// What is remembered of a freed block.
struct FreedBlock {
    std::uint64_t serial = 0;
    Address ptr = 0;
    std::uint64_t bytes = 0;
    BlockKind kind = BlockKind::Device;
    PlaceId place{};  ///< of the free
    std::uint32_t stream = 0;
    std::uint32_t thread = 0;
    Generation generation{};  ///< of the resource's block
    PlaceId allocated{};
    RecentUses recent{};
    bool has_overrun = false;

    Address end() const { return ptr + bytes; }
};

class TrackedBlocks {
  public:
    /// How many freed blocks are remembered.
    static constexpr std::size_t kMostFreed = 16384;

    /// The new block replaces whatever was remembered of its addresses.
    TrackedBlock& add(TrackedBlock block);
    /// The live block that contains an address, or null. O(log live blocks).
    TrackedBlock* find(Address address);
    /// The live block or array handle that starts at `ptr`, or null.
    TrackedBlock* find_start(Address ptr, bool is_array);
    /// Takes a block off the map.
    TrackedBlock remove(const TrackedBlock& block);

    void remember_freed(const FreedBlock& freed);
    /// Forgets the freed blocks that reach into [lo, hi).
    void forget_freed(Address lo, Address hi);
    /// The freed block that contained an address last, or null.
    const FreedBlock* find_freed(Address address) const;
    FreedBlock* find_freed(Address address);
    const FreedBlock* find_freed_array(Address handle) const;

    std::size_t live() const { return blocks_.size() + arrays_.size(); }

    template <typename Visit>
    void for_each(Visit&& visit) {
        for (auto& [ptr, block] : blocks_) {
            visit(block);
        }
        for (auto& [handle, block] : arrays_) {
            visit(block);
        }
    }

  private:
    /// The live blocks in a row: on its way down the map, a search waits for one load after
    /// another. Worth making anew only after as many searches as there are blocks.
    struct Index {
        std::vector<Address> starts;  ///< empty while it is not up to date
        std::vector<TrackedBlock*> blocks;
        std::size_t searches = 0;  ///< that did without it

        void outdate();
    };
    TrackedBlock* find_in_index(Address address);
    void make_index();

    std::map<Address, TrackedBlock> blocks_;
    Index index_;
    /// By handle: an array has no address in the unified space.
    std::unordered_map<Address, TrackedBlock> arrays_;
    std::map<Address, FreedBlock> freed_;
    std::unordered_map<Address, FreedBlock> freed_arrays_;
    std::deque<FreedBlock> freed_order_;
};

}  // namespace cuward
