// Blocks with guarded edges: the live ones by address, and those held back after their free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/resource/device_memory_resource.hpp"
#include "core/resource/guard/context_checker.hpp"

namespace cuward::guard {

/// One allocation of the inner resource, and the program's part of it.
struct GuardedBlock {
    DeviceBlock inner;
    std::size_t front = 0;  ///< bytes before the program's
    std::size_t bytes = 0;  ///< the program's
    ContextId context = 0;
    bool is_armed = false;     ///< its edges hold canaries, maybe only once `filled` is complete
    CUevent filled = nullptr;  ///< behind the filling of a stream-ordered block
    bool is_reported = false;

    Address ptr() const { return inner.ptr + front; }
    Address end() const { return ptr() + bytes; }
    std::size_t back() const { return inner.bytes - front - bytes; }
    /// As the program knows it.
    DeviceBlock outer() const {
        DeviceBlock block = inner;
        block.ptr = ptr();
        block.bytes = bytes;
        return block;
    }
    BlockId id() const { return BlockId(outer()); }
    bool is_stream_ordered() const { return inner.alloc_stream != kNoStream; }
};

/// A block that the program has freed.
struct HeldBlock {
    GuardedBlock block;
    bool is_poisoned = false;
    bool is_given_back = false;   ///< only the result of its last check is awaited
    CUevent poisoned = nullptr;   ///< behind check and poison, of frees on a stream
    Check* last_check = nullptr;  ///< of its canaries, complete with `poisoned`
    std::uint64_t turn = 0;       ///< counts frees

    std::size_t bytes() const { return is_given_back ? 0 : block.inner.bytes; }
};

/// The live blocks. Thread-safe.
class LiveBlocks {
  public:
    void add(const GuardedBlock& block);
    /// Takes a live block off; none if the id is not of a live one.
    std::optional<GuardedBlock> take(const BlockId& id);
    std::optional<GuardedBlock> find(const BlockId& id) const;
    std::optional<GuardedBlock> find(Address ptr) const;
    std::vector<GuardedBlock> all() const;
    /// Marks a live block as reported; false if it is none or was reported before.
    bool mark_reported(const BlockId& id);
    std::size_t bytes() const;

  private:
    mutable std::mutex mutex_;
    std::unordered_map<Address, GuardedBlock> blocks_;
    std::size_t bytes_ = 0;
};

/// Blocks held back, oldest first, in two queues: those whose release waits for the device
/// (cuMemFree) and those whose release does not. Those whose check is not known to be complete
/// stand apart. Thread-safe.
class Quarantine {
  public:
    explicit Quarantine(std::size_t limit) : limit_(limit) {}

    std::size_t limit() const { return limit_; }
    std::size_t bytes() const;
    bool has_room_for(std::size_t bytes) const;

    void add_pending(HeldBlock held);
    void add_complete(HeldBlock held);

    /// Takes the oldest pending one.
    std::optional<HeldBlock> take_pending();
    void put_back_pending(HeldBlock held);

    /// Takes the oldest complete one while more than `keep` bytes are held; `may_wait` says whether
    /// one whose release waits for the device will do. None during a check of all.
    std::optional<HeldBlock> take_oldest(std::size_t keep, bool may_wait);
    /// Takes all of a context.
    std::vector<HeldBlock> take_context(ContextId context);

    /// While one lives nothing is taken for release, so that what `all` gives stays allocated.
    class Inspection {
      public:
        explicit Inspection(Quarantine& quarantine) : quarantine_(quarantine) {
            quarantine_.count_inspections(1);
        }
        ~Inspection() { quarantine_.count_inspections(-1); }
        Inspection(const Inspection&) = delete;
        Inspection& operator=(const Inspection&) = delete;

      private:
        Quarantine& quarantine_;
    };
    bool is_being_checked() const;
    std::vector<HeldBlock> all() const;
    /// Marks a block as reported; false if it is not held or was reported before.
    bool mark_reported(const BlockId& id);

  private:
    using Queue = std::list<HeldBlock>;

    Queue& queue_of(const HeldBlock& held) {
        return held.block.is_stream_ordered() ? ordered_ : direct_;
    }
    std::optional<HeldBlock> pop(Queue& queue);
    void count_inspections(int more);

    const std::size_t limit_;
    mutable std::mutex mutex_;
    Queue pending_;
    Queue ordered_;
    Queue direct_;
    std::size_t bytes_ = 0;
    std::uint64_t turns_ = 0;
    int inspections_ = 0;
};

}  // namespace cuward::guard
