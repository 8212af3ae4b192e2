// Finds what a program writes around its blocks, and into them after their free.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/resource/cuda_device.hpp"
#include "core/resource/forwarding_resource.hpp"
#include "core/resource/guard/context_checker.hpp"
#include "core/resource/guard/guard_reports.hpp"
#include "core/resource/guard/guarded_blocks.hpp"

namespace cuward {

struct GuardOptions {
    std::size_t quarantine_bytes = 0;  ///< of freed blocks held back, edges included
    bool guards_front = true;          ///< false: blocks start where the inner resource's do
};

/// Asks the inner resource for more than the program does and hands out the middle: canaries before
/// and behind, poison in between. A freed block is checked, poisoned and held back; it goes to the
/// inner resource when newer ones fill the quarantine, or when memory runs short.
///
/// Canaries are checked when a block is freed, poison when it is released, and both by check_all. A
/// free without a stream waits for the device, as cuMemFree does; one on a stream queues its check
/// there, and the result is looked at later. Memory that does not fit with its edges comes without.
/// While a stream is captured blocks are neither filled nor checked. A failure of the guard's own
/// calls never fails the program's: then the call goes to the inner resource alone.
class DebugGuardResource final : public ForwardingResource {
  public:
    /// Both ends of the edges hold at least this; a multiple of every alignment that CUDA promises.
    static constexpr std::size_t kEdge = 4096;
    static constexpr unsigned char kCanary = 0xA7;
    static constexpr unsigned char kFresh = 0xCB;
    static constexpr unsigned char kFreed = 0xDF;

    /// The caller keeps `reports` and the device's driver alive.
    DebugGuardResource(std::unique_ptr<DeviceMemoryResource> inner, CudaDevice device,
                       const GuardOptions& options, GuardReports& reports);
    /// Releases what is held back.
    ~DebugGuardResource() override;

    ResourceResult<DeviceBlock> allocate(std::size_t bytes, StreamId stream, AllocTag tag) override;
    ResourceResult<void> deallocate(const DeviceBlock& block) override;
    ResourceResult<void> deallocate_on(const DeviceBlock& block, StreamId free_stream) override;
    ResourceResult<void> deallocate_synchronously(const DeviceBlock& block) override;

    std::optional<DeviceBlock> find(Address address) const override;
    /// Where edges begin, and blocks held back.
    bool hides(Address address) const override;
    ResourceResult<void> forget(const BlockId& block) override;
    void forget_context(ContextId context) override;
    void context_ending(ContextId context) override;

    /// Requested bytes of live blocks: what is held back counts as freed.
    std::size_t bytes_outstanding() const override { return live_.bytes(); }
    void reap_pending() override;

    ResourceResult<void> record_block_use(const BlockId& block, StreamId use_stream) override;
    ResourceResult<void> prepare_block_use(const BlockId& block, StreamId use_stream,
                                           Access access) override;
    ResourceResult<void> finish_block_use(const BlockId& block, StreamId use_stream,
                                          Access access) override;

    /// Checks every live block and every one held back, without waiting for the program's work.
    void check_all() override;

  private:
    using Checker = std::shared_ptr<guard::ContextChecker>;
    using HandOn = ResourceResult<void> (*)(DeviceMemoryResource& inner, const DeviceBlock& block,
                                            StreamId stream);

    const DriverApi& driver() const { return device_.driver(); }
    ResourceResult<DeviceBlock> allocate_inner(std::size_t bytes, StreamId stream, AllocTag tag);
    DeviceBlock adopt(guard::GuardedBlock block);
    bool fill(guard::GuardedBlock& block, StreamId stream);
    ResourceResult<guard::GuardedBlock> take(const BlockId& id);
    ResourceResult<guard::GuardedBlock> live(const BlockId& id) const;

    ResourceResult<void> free_block(const DeviceBlock& block, StreamId stream, HandOn hand_on);
    bool retire(guard::GuardedBlock& block, StreamId stream);
    bool retire_now(guard::GuardedBlock& block);
    bool retire_on(guard::GuardedBlock& block, StreamId stream);
    bool await_uses(const guard::GuardedBlock& block, guard::ContextChecker& checker);
    bool order_behind_uses(const guard::GuardedBlock& block, StreamId stream);
    void report_edges(guard::GuardedBlock& block, const guard::Check& check);
    void drop_event(const guard::GuardedBlock& block);

    bool make_room_for(std::size_t bytes);
    void settle_pending(std::size_t most);
    bool settle(guard::HeldBlock& held);
    void release_down_to(std::size_t keep, bool may_wait);
    bool release(const guard::HeldBlock& held);
    void check_poison(guard::ContextChecker& checker, const guard::GuardedBlock& block);
    void release_everything();

    ContextId context_of(StreamId stream) const;
    Checker find_checker(ContextId context) const;
    std::map<ContextId, Checker> checkers() const;
    /// The checker of the current context, made at its first use; null if it cannot be made.
    Checker checker_of_current(ContextId context);

    struct Suspect;
    void check_context(ContextId context);
    std::vector<Suspect> suspects_of(ContextId context) const;
    void check_suspects(guard::ContextChecker& checker, const std::vector<Suspect>& suspects);
    bool check_some(guard::ContextChecker& checker, std::span<const Suspect> suspects);
    void report(const Suspect& suspect, Address first_bad);

    const CudaDevice device_;
    const GuardOptions options_;
    GuardReports& reports_;
    guard::LiveBlocks live_;
    guard::Quarantine quarantine_;
    mutable std::mutex checkers_mutex_;
    std::map<ContextId, Checker> checkers_;
    std::atomic<bool> has_noted_{false};
};

}  // namespace cuward
