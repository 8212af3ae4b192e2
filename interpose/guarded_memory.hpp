// Guarded memory as the program would see it without its edges.
#pragma once

#include "interpose/watched_call.hpp"

namespace cuward {

/// The guarded block around an address, where blocks are guarded; start and bytes as the program
/// asked for them.
inline std::optional<DeviceBlock> find_guarded(Address address) noexcept {
    std::optional<DeviceBlock> block;
    Tool* const tool = watching();
    if (tool != nullptr && tool->session.settings().guard) {
        guarded([&] { block = tool->session.tracker().find_owned(address); });
    }
    return block;
}

/// An answer of cuPointerGetAttribute about memory of this block.
inline void correct_range(const DeviceBlock& block, CUpointer_attribute attribute, void* data) {
    if (attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) {
        *static_cast<CUdeviceptr*>(data) = block.ptr;
    } else if (attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE) {
        *static_cast<std::size_t*>(data) = block.bytes;
    }
}

}  // namespace cuward
