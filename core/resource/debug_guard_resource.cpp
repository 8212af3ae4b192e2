#include "core/resource/debug_guard_resource.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "core/resource/context_scope.hpp"

namespace cuward {
namespace {

using guard::Check;
using guard::GuardedBlock;
using guard::HeldBlock;
using guard::Region;

/// Inner blocks end at multiples of what cuMemAlloc customarily aligns to, so that all bytes up to
/// the next allocation are guarded.
constexpr std::size_t kGranule = 512;

/// Checks of stream-ordered frees looked at for each new one: more than one, so that they get
/// fewer.
constexpr std::size_t kSettledPerFree = 4;

/// Checks queued before their results are looked at.
constexpr std::size_t kMostInFlight = 256;

bool is_out_of_memory(const ResourceFailure& failure) {
    return failure.error == ResourceError::Driver &&
           failure.driver_result == CUDA_ERROR_OUT_OF_MEMORY;
}

Region front_edge(const GuardedBlock& block) {
    return {block.inner.ptr, block.front, DebugGuardResource::kCanary};
}

Region back_edge(const GuardedBlock& block) {
    return {block.end(), block.back(), DebugGuardResource::kCanary};
}

Region whole(const GuardedBlock& block) {
    return {block.inner.ptr, block.inner.bytes, DebugGuardResource::kFreed};
}

tl::unexpected<ResourceFailure> not_live() {
    return tl::unexpected(ResourceFailure{ResourceError::UseAfterFree, CUDA_ERROR_INVALID_VALUE});
}

tl::unexpected<ResourceFailure> misuse(CUresult result) {
    return tl::unexpected(ResourceFailure{ResourceError::StreamMisuse, result});
}

}  // namespace

DebugGuardResource::DebugGuardResource(std::unique_ptr<DeviceMemoryResource> inner,
                                       CudaDevice device, const GuardOptions& options,
                                       GuardReports& reports)
    : ForwardingResource(std::move(inner)),
      device_(device),
      options_(options),
      reports_(reports),
      quarantine_(options.quarantine_bytes) {}

DebugGuardResource::~DebugGuardResource() {
    release_everything();
    for (const GuardedBlock& block : live_.all()) {
        drop_event(block);
    }
    for (const auto& [context, checker] : checkers_) {
        const ContextScope scope(driver(), context);
        checker->destroy();
    }
}

// Allocation

ResourceResult<DeviceBlock> DebugGuardResource::allocate(std::size_t bytes, StreamId stream,
                                                         AllocTag tag) {
    const std::size_t front = options_.guards_front ? kEdge : 0;
    const std::size_t most = std::numeric_limits<std::size_t>::max() - front - kEdge - kGranule;
    if (bytes == 0 || bytes > most) {
        return inner().allocate(bytes, stream, tag);
    }
    const std::size_t total = (front + bytes + kEdge + kGranule - 1) / kGranule * kGranule;
    auto block = allocate_inner(total, stream, tag);
    if (!block && is_out_of_memory(block.error())) {
        return inner().allocate(bytes, stream, tag).map([&](const DeviceBlock& plain) {
            return adopt({.inner = plain, .bytes = bytes, .context = context_of(stream)});
        });
    }
    return block.map([&](const DeviceBlock& inner_block) {
        GuardedBlock guarded{
            .inner = inner_block, .front = front, .bytes = bytes, .context = context_of(stream)};
        guarded.is_armed = fill(guarded, stream);
        return adopt(guarded);
    });
}

/// What is held back is given up before memory is refused.
ResourceResult<DeviceBlock> DebugGuardResource::allocate_inner(std::size_t bytes, StreamId stream,
                                                               AllocTag tag) {
    auto block = inner().allocate(bytes, stream, tag);
    if (block || !is_out_of_memory(block.error()) || quarantine_.bytes() == 0 ||
        reports_.is_capturing()) {
        return block;
    }
    release_everything();
    return inner().allocate(bytes, stream, tag);
}

DeviceBlock DebugGuardResource::adopt(GuardedBlock block) {
    // Checking it waits for the device, whatever memory it is.
    block.inner.free_waits_for_device = block.inner.free_waits_for_device || block.is_armed;
    live_.add(block);
    return block.outer();
}

/// Whether the canaries are in place: at once for memory that is usable at once, in the order of
/// the stream for memory that is allocated on one.
bool DebugGuardResource::fill(GuardedBlock& block, StreamId stream) {
    if (reports_.is_capturing()) {
        return false;
    }
    const ContextScope scope(driver(), block.context);
    const Checker checker =
        scope.result() == CUDA_SUCCESS ? checker_of_current(block.context) : nullptr;
    if (checker == nullptr) {
        return false;
    }
    const bool is_ordered = stream != kNoStream;
    const StreamId on = is_ordered ? stream : checker->stream();
    const auto set = [&](Address address, std::size_t bytes, unsigned char value) {
        return checker->fill(address, bytes, value, on) == CUDA_SUCCESS;
    };
    bool is_filled = set(block.inner.ptr, block.front, kCanary);
    is_filled = is_filled && set(block.ptr(), block.bytes, kFresh);
    is_filled = is_filled && set(block.end(), block.back(), kCanary);
    if (!is_ordered) {
        // Also after a failure: nothing may still be writing when the program gets the block.
        return checker->wait() == CUDA_SUCCESS && is_filled;
    }
    const auto event = checker->record(on);
    block.filled = event.value_or(nullptr);
    return event && is_filled;
}

// Free

ResourceResult<GuardedBlock> DebugGuardResource::live(const BlockId& id) const {
    if (id.device_ordinal != device_ordinal()) {
        return misuse(CUDA_ERROR_INVALID_DEVICE);
    }
    const auto block = live_.find(id);
    return block ? ResourceResult<GuardedBlock>(*block) : not_live();
}

ResourceResult<GuardedBlock> DebugGuardResource::take(const BlockId& id) {
    if (id.device_ordinal != device_ordinal()) {
        return misuse(CUDA_ERROR_INVALID_DEVICE);
    }
    const auto block = live_.take(id);
    return block ? ResourceResult<GuardedBlock>(*block) : not_live();
}

ResourceResult<void> DebugGuardResource::deallocate(const DeviceBlock& block) {
    return free_block(block, block.alloc_stream,
                      [](DeviceMemoryResource& inner, const DeviceBlock& inner_block,
                         StreamId /*stream*/) { return inner.deallocate(inner_block); });
}

ResourceResult<void> DebugGuardResource::deallocate_on(const DeviceBlock& block,
                                                       StreamId free_stream) {
    if (free_stream == kNoStream) {
        return misuse(CUDA_ERROR_INVALID_HANDLE);
    }
    return free_block(block, free_stream,
                      [](DeviceMemoryResource& inner, const DeviceBlock& inner_block,
                         StreamId stream) { return inner.deallocate_on(inner_block, stream); });
}

ResourceResult<void> DebugGuardResource::deallocate_synchronously(const DeviceBlock& block) {
    return free_block(
        block, kNoStream,
        [](DeviceMemoryResource& inner, const DeviceBlock& inner_block, StreamId /*stream*/) {
            return inner.deallocate_synchronously(inner_block);
        });
}

ResourceResult<void> DebugGuardResource::free_block(const DeviceBlock& block, StreamId stream,
                                                    HandOn hand_on) {
    return take(BlockId(block)).and_then([&](GuardedBlock taken) -> ResourceResult<void> {
        if (retire(taken, stream)) {
            drop_event(taken);
            const bool waits = stream == kNoStream && !taken.is_stream_ordered();
            release_down_to(quarantine_.limit(), waits);
            return {};
        }
        const auto result = hand_on(inner(), taken.inner, stream);
        if (result || result.error().error == ResourceError::UseAfterFree) {
            drop_event(taken);
        } else {
            live_.add(taken);
        }
        return result;
    });
}

/// Checks a block that is being freed. True if it is held back, false if it has to go to the inner
/// resource now.
bool DebugGuardResource::retire(GuardedBlock& block, StreamId stream) {
    if (block.is_armed && !reports_.is_capturing()) {
        const bool is_held = stream == kNoStream ? retire_now(block) : retire_on(block, stream);
        if (is_held) {
            return true;
        }
    }
    if (block.is_armed && quarantine_.is_being_checked()) {
        // Another thread may be reading it: it must stay allocated until that is over.
        quarantine_.add_complete({.block = block});
        return true;
    }
    return false;
}

/// A free that is no work of a stream: every use is complete, or is so once the device is idle.
bool DebugGuardResource::retire_now(GuardedBlock& block) {
    const ContextScope scope(driver(), block.context);
    const Checker checker = scope.result() == CUDA_SUCCESS ? find_checker(block.context) : nullptr;
    if (checker == nullptr || !await_uses(block, *checker)) {
        return false;
    }
    const StreamId own = checker->stream();
    const std::array edges{front_edge(block), back_edge(block)};
    const auto check = checker->queue_check(edges, own);
    const bool is_poisoned =
        block.inner.bytes <= quarantine_.limit() &&
        checker->fill(block.inner.ptr, block.inner.bytes, kFreed, own) == CUDA_SUCCESS;
    if (checker->wait() != CUDA_SUCCESS) {
        return false;  // the context is broken for good, and its checks with it
    }
    if (check) {
        report_edges(block, **check);
        checker->give_back(*check);
    }
    if (is_poisoned) {
        quarantine_.add_complete({.block = block, .is_poisoned = true});
    }
    return is_poisoned;
}

/// cuMemFree waits for the device only for memory of cuMemAlloc; the uses of stream-ordered memory
/// are the program's to await, or the inner resource's to order.
bool DebugGuardResource::await_uses(const GuardedBlock& block, guard::ContextChecker& checker) {
    if (!block.is_stream_ordered()) {
        return driver().ctx_synchronize() == CUDA_SUCCESS;
    }
    return order_behind_uses(block, checker.stream());
}

bool DebugGuardResource::order_behind_uses(const GuardedBlock& block, StreamId stream) {
    return !inner().supports_block_use_tracking() ||
           inner().prepare_block_use(BlockId(block.inner), stream, Access::Write);
}

/// A free on a stream: check and poison are queued there, and looked at once they are complete.
bool DebugGuardResource::retire_on(GuardedBlock& block, StreamId stream) {
    settle_pending(kSettledPerFree);
    const ContextScope scope(driver(), block.context);
    const Checker checker = scope.result() == CUDA_SUCCESS ? find_checker(block.context) : nullptr;
    if (checker == nullptr || context_of(stream) != block.context ||
        !order_behind_uses(block, stream)) {
        return false;
    }
    const std::array edges{front_edge(block), back_edge(block)};
    const auto check = checker->queue_check(edges, stream);
    const bool is_poisoned =
        make_room_for(block.inner.bytes) &&
        checker->fill(block.inner.ptr, block.inner.bytes, kFreed, stream) == CUDA_SUCCESS;
    if (!check && !is_poisoned) {
        return false;
    }
    const auto event = checker->record(stream);
    if (!event) {
        return false;  // nobody will know when the check is complete: it is left alone
    }
    if (inner().supports_block_use_tracking()) {
        (void)inner().finish_block_use(BlockId(block.inner), stream, Access::Write);
    }
    quarantine_.add_pending({.block = block,
                             .is_poisoned = is_poisoned,
                             .is_given_back = !is_poisoned,
                             .poisoned = *event,
                             .last_check = check.value_or(nullptr)});
    return is_poisoned;
}

/// Without waiting: a block that does not fit is not held back.
bool DebugGuardResource::make_room_for(std::size_t bytes) {
    if (bytes > quarantine_.limit()) {
        return false;
    }
    release_down_to(quarantine_.limit() - bytes, false);
    return quarantine_.has_room_for(bytes);
}

void DebugGuardResource::report_edges(GuardedBlock& block, const Check& check) {
    for (const std::size_t edge : {0, 1}) {
        const Address first_bad = check.first_bad_address(edge);
        if (first_bad != 0 && !std::exchange(block.is_reported, true)) {
            reports_.written_out_of_bounds(block.id(), first_bad);
        }
    }
}

void DebugGuardResource::drop_event(const GuardedBlock& block) {
    const Checker checker = block.filled != nullptr ? find_checker(block.context) : nullptr;
    if (checker != nullptr) {
        checker->give_back(block.filled);
    }
}

// Quarantine

void DebugGuardResource::settle_pending(std::size_t most) {
    for (; most > 0; --most) {
        std::optional<HeldBlock> held = quarantine_.take_pending();
        if (!held) {
            return;
        }
        if (!settle(*held)) {
            quarantine_.put_back_pending(*held);
            return;
        }
        if (!held->is_given_back) {
            quarantine_.add_complete(*held);
        }
    }
}

/// Looks at the check of a stream-ordered free; false while it is not complete.
bool DebugGuardResource::settle(HeldBlock& held) {
    const CUresult result = driver().event_query(held.poisoned);
    if (result == CUDA_ERROR_NOT_READY) {
        return false;
    }
    CUevent event = std::exchange(held.poisoned, nullptr);
    Check* const check = std::exchange(held.last_check, nullptr);
    const Checker checker = find_checker(held.block.context);
    if (checker != nullptr) {
        checker->give_back(event);
    }
    if (result != CUDA_SUCCESS || checker == nullptr) {
        held.is_poisoned = false;  // the context is broken: nothing more is known of its memory
        return true;
    }
    if (check != nullptr) {
        report_edges(held.block, *check);
        checker->give_back(check);
    }
    return true;
}

void DebugGuardResource::release_down_to(std::size_t keep, bool may_wait) {
    if (quarantine_.bytes() <= keep || reports_.is_capturing()) {
        return;
    }
    settle_pending(std::numeric_limits<std::size_t>::max());
    while (const auto held = quarantine_.take_oldest(keep, may_wait)) {
        if (!release(*held)) {
            quarantine_.add_complete(*held);
            return;
        }
    }
}

/// Gives a block held back to the inner resource; false if that refuses. Stream-ordered memory goes
/// on the checker's stream, as its own may have ended.
bool DebugGuardResource::release(const HeldBlock& held) {
    const GuardedBlock& block = held.block;
    const ContextScope scope(driver(), block.context);
    const Checker checker = scope.result() == CUDA_SUCCESS ? find_checker(block.context) : nullptr;
    if (checker != nullptr && held.is_poisoned) {
        check_poison(*checker, block);
    }
    if (!block.is_stream_ordered() || checker == nullptr) {
        const auto result = inner().deallocate_synchronously(block.inner);
        return result || result.error().error == ResourceError::UseAfterFree;
    }
    if (inner().supports_block_use_tracking()) {
        // Whatever used it is complete: the check was its last use, and nothing else has to be
        // waited for.
        (void)inner().finish_block_use(BlockId(block.inner), checker->stream(), Access::Write);
    }
    const auto result = inner().deallocate_on(block.inner, checker->stream());
    return result || result.error().error == ResourceError::UseAfterFree;
}

void DebugGuardResource::check_poison(guard::ContextChecker& checker, const GuardedBlock& block) {
    const std::array regions{whole(block)};
    const auto check = checker.queue_check(regions, checker.stream());
    if (!check || checker.wait() != CUDA_SUCCESS) {
        return;
    }
    if (const Address first_bad = (*check)->first_bad_address(0); first_bad != 0) {
        reports_.written_after_free(block.id(), first_bad);
    }
    checker.give_back(*check);
}

/// Waits for the device: what is pending is complete then, and memory given back on a stream is
/// back.
void DebugGuardResource::release_everything() {
    for (const auto& [context, checker] : checkers()) {
        const ContextScope scope(driver(), context);
        if (scope.result() == CUDA_SUCCESS) {
            (void)driver().ctx_synchronize();
        }
    }
    settle_pending(std::numeric_limits<std::size_t>::max());
    release_down_to(0, true);
    for (const auto& [context, checker] : checkers()) {
        const ContextScope scope(driver(), context);
        if (scope.result() == CUDA_SUCCESS) {
            (void)checker->wait();
        }
    }
}

void DebugGuardResource::reap_pending() {
    if (!reports_.is_capturing()) {
        settle_pending(std::numeric_limits<std::size_t>::max());
    }
    inner().reap_pending();
}

// Contexts

ContextId DebugGuardResource::context_of(StreamId stream) const {
    CUcontext context = nullptr;
    const bool is_named =
        stream != kNoStream && stream != kLegacyStream && stream != kPerThreadStream;
    const CUresult result =
        is_named ? driver().stream_get_ctx(
                       reinterpret_cast<CUstream>(static_cast<std::uint64_t>(stream)), &context)
                 : driver().ctx_get_current(&context);
    return result == CUDA_SUCCESS ? reinterpret_cast<ContextId>(context) : 0;
}

DebugGuardResource::Checker DebugGuardResource::find_checker(ContextId context) const {
    const std::lock_guard lock(checkers_mutex_);
    const auto found = checkers_.find(context);
    return found != checkers_.end() ? found->second : nullptr;
}

std::map<ContextId, DebugGuardResource::Checker> DebugGuardResource::checkers() const {
    const std::lock_guard lock(checkers_mutex_);
    return checkers_;
}

DebugGuardResource::Checker DebugGuardResource::checker_of_current(ContextId context) {
    if (Checker known = find_checker(context)) {
        return known;
    }
    const auto created = guard::ContextChecker::create(driver());
    if (!created) {
        return nullptr;
    }
    if (!(*created)->can_check() && !has_noted_.exchange(true)) {
        reports_.note(
            "guarded memory is filled but not checked: the checking kernel cannot be "
            "loaded (CUDA error " +
            std::to_string((*created)->load_result()) + ")");
    }
    std::unique_lock lock(checkers_mutex_);
    const auto [place, is_first] = checkers_.try_emplace(context, *created);
    Checker kept = place->second;
    lock.unlock();
    if (!is_first) {
        (*created)->destroy();  // another thread was faster
    }
    return kept;
}

ResourceResult<void> DebugGuardResource::forget(const BlockId& id) {
    return take(id).and_then([&](const GuardedBlock& taken) {
        drop_event(taken);
        return inner().forget(BlockId(taken.inner));
    });
}

void DebugGuardResource::forget_context(ContextId context) {
    for (const HeldBlock& held : quarantine_.take_context(context)) {
        if (!held.is_given_back) {
            (void)inner().forget(BlockId(held.block.inner));
        }
    }
    {
        const std::lock_guard lock(checkers_mutex_);
        checkers_.erase(context);
    }
    inner().forget_context(context);
}

/// The last chance to look at what is in the context, and to give back what is held there.
void DebugGuardResource::context_ending(ContextId context) {
    if (find_checker(context) != nullptr && !reports_.is_capturing()) {
        const ContextScope scope(driver(), context);
        if (scope.result() == CUDA_SUCCESS && driver().ctx_synchronize() == CUDA_SUCCESS) {
            settle_pending(std::numeric_limits<std::size_t>::max());
            check_context(context);
            for (const HeldBlock& held : quarantine_.take_context(context)) {
                if (!held.is_given_back && !release(held)) {
                    quarantine_.add_complete(held);
                }
            }
        }
    }
    inner().context_ending(context);
}

// Uses

ResourceResult<void> DebugGuardResource::record_block_use(const BlockId& block,
                                                          StreamId use_stream) {
    return live(block).and_then([&](const GuardedBlock& guarded) {
        return inner().record_block_use(BlockId(guarded.inner), use_stream);
    });
}

ResourceResult<void> DebugGuardResource::prepare_block_use(const BlockId& block,
                                                           StreamId use_stream, Access access) {
    return live(block).and_then([&](const GuardedBlock& guarded) {
        return inner().prepare_block_use(BlockId(guarded.inner), use_stream, access);
    });
}

ResourceResult<void> DebugGuardResource::finish_block_use(const BlockId& block, StreamId use_stream,
                                                          Access access) {
    return live(block).and_then([&](const GuardedBlock& guarded) {
        return inner().finish_block_use(BlockId(guarded.inner), use_stream, access);
    });
}

bool DebugGuardResource::hides(Address address) const {
    return !find(address) && (inner().find(address) || inner().hides(address));
}

std::optional<DeviceBlock> DebugGuardResource::find(Address address) const {
    const auto block = live_.find(address);
    return block ? std::optional(block->outer()) : std::nullopt;
}

// Checks of everything

/// A region to be looked at, and whose it is.
struct DebugGuardResource::Suspect {
    Region region;
    BlockId block;
    bool is_live;
};

void DebugGuardResource::check_all() {
    if (!reports_.is_capturing()) {
        settle_pending(std::numeric_limits<std::size_t>::max());
        for (const auto& [context, checker] : checkers()) {
            check_context(context);
        }
    }
    inner().check_all();
}

void DebugGuardResource::check_context(ContextId context) {
    const ContextScope scope(driver(), context);
    const Checker checker = scope.result() == CUDA_SUCCESS ? find_checker(context) : nullptr;
    if (checker == nullptr || !checker->can_check()) {
        return;
    }
    const guard::Quarantine::Inspection keep_allocated(quarantine_);
    check_suspects(*checker, suspects_of(context));
}

std::vector<DebugGuardResource::Suspect> DebugGuardResource::suspects_of(ContextId context) const {
    std::vector<Suspect> suspects;
    for (const GuardedBlock& block : live_.all()) {
        const bool is_filled =
            block.filled == nullptr || driver().event_query(block.filled) == CUDA_SUCCESS;
        if (block.context == context && block.is_armed && !block.is_reported && is_filled) {
            suspects.push_back({front_edge(block), block.id(), true});
            suspects.push_back({back_edge(block), block.id(), true});
        }
    }
    for (const HeldBlock& held : quarantine_.all()) {
        if (held.block.context == context && held.is_poisoned) {
            suspects.push_back({whole(held.block), held.block.id(), false});
        }
    }
    return suspects;
}

void DebugGuardResource::check_suspects(guard::ContextChecker& checker,
                                        const std::vector<Suspect>& suspects) {
    std::span<const Suspect> left(suspects);
    while (!left.empty()) {
        const auto some = left.first(std::min(left.size(), kMostInFlight * Check::kMost));
        if (!check_some(checker, some)) {
            return;
        }
        left = left.subspan(some.size());
    }
}

/// Queues all checks before it waits; false if something failed.
bool DebugGuardResource::check_some(guard::ContextChecker& checker,
                                    std::span<const Suspect> suspects) {
    std::vector<Check*> checks;
    for (auto left = suspects; !left.empty();) {
        const auto some = left.first(std::min(left.size(), Check::kMost));
        std::array<Region, Check::kMost> regions{};
        std::transform(some.begin(), some.end(), regions.begin(),
                       [](const Suspect& suspect) { return suspect.region; });
        const auto check = checker.queue_check({regions.data(), some.size()}, checker.stream());
        if (!check) {
            break;
        }
        checks.push_back(*check);
        left = left.subspan(some.size());
    }
    if (checker.wait() != CUDA_SUCCESS) {
        return false;  // the context is broken for good, and its checks with it
    }
    const std::size_t checked = std::min(suspects.size(), checks.size() * Check::kMost);
    for (std::size_t i = 0; i < checked; ++i) {
        const Check& check = *checks[i / Check::kMost];
        if (const Address bad = check.first_bad_address(i % Check::kMost); bad != 0) {
            report(suspects[i], bad);
        }
    }
    for (Check* const check : checks) {
        checker.give_back(check);
    }
    return checked == suspects.size();
}

/// A block that has been freed or released meanwhile is looked at by whoever does that.
void DebugGuardResource::report(const Suspect& suspect, Address first_bad) {
    if (suspect.is_live && live_.mark_reported(suspect.block)) {
        reports_.written_out_of_bounds(suspect.block, first_bad);
    } else if (!suspect.is_live && quarantine_.mark_reported(suspect.block)) {
        reports_.written_after_free(suspect.block, first_bad);
    }
}

}  // namespace cuward
