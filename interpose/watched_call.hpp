// What every hook of memory does around the driver's call: find out where it is, tell the tracker,
// and never let a failure of the tool reach the program.
#pragma once

#include <pthread.h>

#include <exception>
#include <optional>

#include "core/tracker.hpp"
#include "interpose/process.hpp"

namespace cuward {

/// Inside the tool: driver calls are the tool's own, and the thread is not cancelled (writing the
/// log is a cancellation point, and unwinding must not begin in the tool).
class ToolSection {
  public:
    ToolSection() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
    ~ToolSection() { pthread_setcancelstate(cancel_state_, nullptr); }
    ToolSection(const ToolSection&) = delete;
    ToolSection& operator=(const ToolSection&) = delete;

  private:
    ToolScope scope_;
    int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

/// Runs a part of the tool; an exception ends the tool's life. Returns whether it ran to its end.
template <typename Part>
bool guarded(Part&& part) noexcept {
    const ToolSection section;
    try {
        part();
        return true;
    } catch (const std::exception& error) {
        give_up(error.what());
    } catch (...) {
        give_up("unknown error");
    }
    return false;
}

/// An allocation that has succeeded, as far as the call knows it.
struct NewBlock {
    BlockKind kind;
    Address ptr;
    std::uint64_t bytes;
    StreamRef stream{};
    BlockId resource_block{};
    bool free_waits_for_device = true;
    ArrayLayout layout{};
    bool is_imported = false;
};

inline void track_allocation(Tool& tool, const NewBlock& block, const DriverState::Current& place,
                             const char* api) {
    Allocation allocation;
    allocation.kind = block.kind;
    allocation.ptr = block.ptr;
    allocation.bytes = block.bytes;
    allocation.context = place.context;
    allocation.device = place.device;
    allocation.stream = block.stream;
    allocation.free_waits_for_device = block.free_waits_for_device;
    allocation.resource_block = block.resource_block;
    allocation.layout = block.layout;
    allocation.is_imported = block.is_imported;
    allocation.site = tool.session.site(api);
    tool.session.tracker().allocated(allocation);
}

/// After a call that the driver has answered: `describe()` gives the NewBlock if it has succeeded.
template <typename Describe>
void watch_allocation(CUresult result, const char* api, Describe&& describe) noexcept {
    Tool* const tool = watching();
    if (tool != nullptr && result == CUDA_SUCCESS) {
        guarded([&] {
            const auto here = tool->driver.current();
            track_allocation(*tool, describe(), here.value_or(DriverState::Current{}), api);
        });
    }
}

/// What a free call asks for.
struct Release {
    FreeKind kind;
    Address ptr;
    StreamRef stream{};
};

inline PendingFree begin_free(Tool& tool, const Release& release, const char* api) {
    FreeRequest request;
    request.kind = release.kind;
    request.ptr = release.ptr;
    request.context = tool.driver.current().value_or(DriverState::Current{}).context;
    request.stream = release.stream;
    request.site = tool.session.site(api);
    return tool.session.begin_free(request);
}

/// The resource a block belongs to; null for a block no resource owns.
inline DeviceMemoryResource* resource_of(Tool& tool, const BlockId& block) {
    return block.device_ordinal >= 0 ? tool.session.resource(block.device_ordinal) : nullptr;
}

/// Whether the driver would free something there that is no block of the program's.
inline bool is_hidden(CUdeviceptr ptr) {
    Tool* const tool = watching();
    const bool can_be = tool != nullptr && (tool->session.settings().guard ||
                                            tool->session.settings().backend == Backend::Async);
    bool hidden = false;
    if (can_be) {
        guarded([&] {
            for (int device = 0; device < tool->driver.device_count() && !hidden; ++device) {
                DeviceMemoryResource* const resource = tool->session.resource(device);
                hidden = resource != nullptr && resource->hides(ptr);
            }
        });
    }
    return hidden;
}

/// A block as deallocation wants it: only what names it counts there.
inline DeviceBlock named_block(const BlockId& id) {
    return {.ptr = id.ptr,
            .device_ordinal = id.device_ordinal,
            .alloc_stream = id.alloc_stream,
            .generation = id.generation};
}

/// What the resource answered, as the driver would have said it; none if the resource had no say
/// (the block was not its own after all), so that the driver has to be asked.
template <typename T>
std::optional<CUresult> driver_answer(const ResourceResult<T>& result) {
    if (result) {
        return CUDA_SUCCESS;
    }
    if (result.error().error == ResourceError::UseAfterFree) {
        return std::nullopt;
    }
    return static_cast<CUresult>(result.error().driver_result);
}

/// Tells the log if it was the budget that refused.
template <typename T>
void note_refusal(Tool& tool, const ResourceResult<T>& result, int device, const char* api) {
    if (!result && result.error().error == ResourceError::OutOfBudget) {
        tool.session.refused(api, device, result.error().refusal);
    }
}

/// What a call of the program's writes to its result: the driver writes null when it fails.
inline CUdeviceptr address_or_null(const ResourceResult<DeviceBlock>& block) {
    return block ? block->ptr : 0;
}

/// Frees a block through the resource that owns it, else by the driver's call.
template <typename Deallocate, typename Driver>
CUresult release_block(Tool* tool, const BlockId& block, Deallocate deallocate, Driver driver) {
    std::optional<CUresult> result;
    if (tool != nullptr) {
        guarded([&] {
            if (DeviceMemoryResource* const resource = resource_of(*tool, block)) {
                result = deallocate(*resource, block);
            }
        });
    }
    return result ? *result : driver();
}

/// A free that has to wait for uses, although the program's call would not.
inline CUresult free_on_stream(Tool& tool, const PendingFree& pending) {
    const StreamId stream = pending.stream.stream;
    return release_block(
        &tool, pending.resource_block,
        [&](DeviceMemoryResource& resource, const BlockId& block) {
            return driver_answer(resource.deallocate_on(named_block(block), stream));
        },
        [&] {
            const auto handle = reinterpret_cast<CUstream>(static_cast<std::uint64_t>(stream));
            return tool.session.driver().mem_free_async(pending.request.ptr, handle);
        });
}

/// A free around the call that carries it out, `carry_out(tool, block)`, where `block` is the
/// resource's and both are empty when nothing is watched. The block leaves the tracker before, as
/// its address may be handed out again before the call returns, and comes back if the driver
/// refuses. Invalid and double frees go to the driver like any other.
template <typename CarryOut>
CUresult watch_free(const Release& release, const char* api, CarryOut&& carry_out) noexcept {
    Tool* const tool = release.ptr != 0 ? watching() : nullptr;
    PendingFree pending;
    std::optional<BudgetCharge> charge;
    const bool begun = tool != nullptr && guarded([&] {
                           pending = begin_free(*tool, release, api);
                           charge = tool->session.charges().take(release.ptr);
                       });
    if (!begun) {
        return carry_out(nullptr, BlockId{});
    }
    const CUresult result = pending.is_behind_stream ? free_on_stream(*tool, pending)
                                                     : carry_out(tool, pending.resource_block);
    guarded([&] {
        tool->session.tracker().end_free(pending, result == CUDA_SUCCESS);
        tool->session.charges().end(release.ptr, charge, result == CUDA_SUCCESS);
    });
    return result;
}

}  // namespace cuward
