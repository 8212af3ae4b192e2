// Turns the parameter struct of a driver call into what the call means. Knows the driver's structs
// (CUPTI's generated_cuda_meta.h describes every driver function) and nothing of CUPTI itself, so a
// hook that builds the same struct can use it too.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/operation.hpp"
#include "cupti/call.hpp"
#include "cupti/kernel_cache.hpp"
#include "cupti/memory_objects.hpp"

namespace cuward::cupti {

/// Which addresses are in tracked blocks, as core::Tracker tells it.
class BlockLookup {
  public:
    virtual ~BlockLookup() = default;
    virtual bool may_be_tracked(Address address) const = 0;
    virtual std::optional<KnownBlock> find_block(Address address) const = 0;
    virtual bool always_synchronizes(Address address) const = 0;
    virtual std::optional<ArrayPlace> find_array(Address handle) const = 0;
};

/// A driver call being entered: `function` is its CUPTI_DRIVER_TRACE_CBID_*, `params` points to its
/// *_params struct.
struct DriverCall {
    std::uint32_t function = 0;
    const void* params = nullptr;
    ContextId context = 0;         ///< current in the calling thread
    const char* symbol = nullptr;  ///< mangled name of the kernel launched, if known
};

class Decoder {
  public:
    Decoder(const BlockLookup& blocks, const MemoryObjects& objects, KernelCache& kernels)
        : blocks_(blocks), objects_(objects), kernels_(kernels) {}

    /// The functions that are decoded.
    static std::vector<std::uint32_t> functions();

    /// Whether a function is in the table of the driver API, decoded or of no interest.
    static bool knows(std::uint32_t function);

    /// Describes the call in `call`; Effect::None for what means nothing to the tracker. `params`
    /// must stay as it is until the call has returned when the effect creates something.
    void decode(const DriverCall& driver_call, Call& call) const;

    const BlockLookup& blocks() const { return blocks_; }
    const MemoryObjects& objects() const { return objects_; }
    KernelCache& kernels() const { return kernels_; }

  private:
    const BlockLookup& blocks_;
    const MemoryObjects& objects_;
    KernelCache& kernels_;
};

}  // namespace cuward::cupti
