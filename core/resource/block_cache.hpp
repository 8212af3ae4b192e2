// Freed blocks of a pool, kept for requests of the same size, which then cost no driver call: an
// allocation and its free take 0.6 µs, the calls of the pool alone 1.6 (tests/bench/README.md).
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/resource/stream_wait.hpp"

namespace cuward {

/// Thread-safe; no lock is held while the driver is called.
class BlockCache {
  public:
    struct Block {
        Address address = 0;
        std::size_t bytes = 0;  ///< as requested, which the driver remembers
    };
    using Blocks = std::vector<Block>;

    BlockCache(const DriverApi& driver, StreamEvents& events) : driver_(driver), events_(events) {}
    ~BlockCache();
    BlockCache(const BlockCache&) = delete;
    BlockCache& operator=(const BlockCache&) = delete;

    /// Keeps blocks that nobody uses any more when what has been queued on the stream of `frees` is
    /// done. Errors: the driver's, when that cannot be watched; nothing is kept then.
    CUresult keep(const UsePoint& frees, Blocks blocks);

    /// A block of exactly so many bytes that is free on the device.
    std::optional<Address> take(std::size_t bytes);

    /// Looks which blocks the device is done with meanwhile; gives their bytes.
    std::size_t collect();

    /// Takes out free blocks, the largest first, until at most `limit` bytes of them are left.
    Blocks take_surplus(std::size_t limit);

    struct Waiting {
        UsePoint frees;  ///< behind the work of this stream, the blocks are free
        Blocks blocks;
    };
    /// Takes out all blocks that the device may still use.
    std::vector<Waiting> take_waiting();

    /// The driver has destroyed the context, and its work is done; gives the bytes of the blocks
    /// that waited for it.
    std::size_t forget_context(ContextId context);

    bool contains(Address address) const;

  private:
    struct Batch {
        StreamEvent event;
        UsePoint frees;
        Blocks blocks;
    };
    std::optional<Batch> take_oldest();
    std::size_t make_ready(const Blocks& blocks);

    const DriverApi& driver_;
    StreamEvents& events_;
    mutable std::mutex mutex_;
    std::deque<Batch> waiting_;  ///< in the order they were freed
    std::unordered_map<std::size_t, Blocks> ready_;
    std::size_t ready_bytes_ = 0;
};

}  // namespace cuward
