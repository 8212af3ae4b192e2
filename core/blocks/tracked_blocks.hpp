// Which block is at an address: the live ones, and those freed most recently. Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/blocks/access_history.hpp"
#include "core/blocks/pointer_table.hpp"
#include "core/blocks/recent_uses.hpp"
#include "core/operation.hpp"

namespace cuward {

struct TrackedBlock {
    std::uint64_t serial = 0;  ///< its id in the log
    Address ptr = 0;           ///< of memory that has only a handle: one that add() gives it
    std::uint64_t bytes = 0;
    Address handle = 0;  ///< of an array or physical memory; else 0
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
    bool is_imported = false;
    bool synchronizes = false;     ///< CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set
    std::uint32_t references = 1;  ///< to physical memory or an opened handle
    std::uint32_t mappings = 0;    ///< of physical memory

    Address end() const { return ptr + bytes; }
};

/// What is remembered of a freed block.
struct FreedBlock {
    std::uint64_t serial = 0;
    Address ptr = 0;
    std::uint64_t bytes = 0;
    Address handle = 0;
    BlockKind kind = BlockKind::Device;
    PlaceId place{};  ///< of the free
    std::uint32_t stream = 0;
    std::uint32_t thread = 0;
    Generation generation{};  ///< of the resource's block
    PlaceId allocated{};
    RecentUses recent{};
    bool has_overrun = false;
    bool is_imported = false;

    Address end() const { return ptr + bytes; }
};

class TrackedBlocks {
  public:
    /// How many freed blocks are remembered.
    static constexpr std::size_t kMostFreed = 16384;

    /// The new block replaces whatever was remembered of its addresses. One with a handle and no
    /// address gets an address that no other memory has, so that all are found alike.
    TrackedBlock& add(TrackedBlock block);
    /// The live block that contains an address, or null. O(log live blocks).
    TrackedBlock* find(Address address);
    /// The live block that starts at `ptr`, or null.
    TrackedBlock* find_start(Address ptr);
    /// The first live block that starts at `address` or behind it, or null.
    TrackedBlock* first_from(Address address);
    /// Takes a block off the map.
    TrackedBlock remove(const TrackedBlock& block);

    void remember_freed(const FreedBlock& freed);
    /// Forgets the freed blocks that reach into [lo, hi).
    void forget_freed(Address lo, Address hi);
    /// The freed block that contained an address last, or null.
    const FreedBlock* find_freed(Address address) const;
    FreedBlock* find_freed(Address address);

    /// Where the array is that had this handle last, live or freed.
    std::optional<ArrayPlace> find_array(Address handle) const;
    void set_array(Address handle, const ArrayPlace& place);
    /// The address of the physical memory that had this handle last, live or freed; 0 if none.
    Address find_physical(Address handle) const;
    void set_physical(Address handle, Address place) { physical_[handle] = place; }
    /// Addresses that no other memory has.
    Address new_place(std::uint64_t bytes);

    std::size_t live() const { return blocks_.size(); }

    template <typename Visit>
    void for_each(Visit&& visit) {
        for (auto& [ptr, block] : blocks_) {
            visit(block);
        }
    }

  private:
    /// Places for what has no address start where no address of a program's is.
    static constexpr Address kFirstPlace = Address{1} << 63;

    void forget_handle(const FreedBlock& freed);

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
    std::map<Address, FreedBlock> freed_;
    std::deque<FreedBlock> freed_order_;
    std::unordered_map<Address, ArrayPlace> arrays_;  ///< by handle
    std::unordered_map<Address, Address> physical_;   ///< by handle
    Address next_place_ = kFirstPlace;
};

}  // namespace cuward
