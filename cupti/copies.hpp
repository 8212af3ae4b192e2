// The bytes that copies and memsets touch, and what the host learns from them.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "core/byte_range.hpp"
#include "cupti/call.hpp"
#include "cupti/copy_edges.hpp"
#include "cupti/decode.hpp"

namespace cuward::cupti {

/// What a call says of an address: copies of either direction take addresses of both kinds, so a
/// block that is known at the address says more.
enum class Declared : std::uint8_t { Host, Device, Unified, Array };

/// Source or destination of a copy.
struct CopySide {
    Declared declared = Declared::Array;
    ByteRange range;  ///< empty: of an array that is not known
    bool range_exact = true;
};

/// A box of memory as 2D and 3D copies describe it.
struct CopyBox {
    std::uint64_t x_bytes = 0, y = 0, z = 0;
    std::uint64_t pitch = 0, height = 0;  ///< of the memory around it
    std::uint64_t width_bytes = 0, rows = 0, slices = 1;
};

CopySide linear_side(Declared declared, Address address, std::uint64_t bytes);
CopySide array_side(const BlockLookup& blocks, CUarray array, std::uint64_t offset,
                    std::uint64_t bytes);
CopySide array_side(const BlockLookup& blocks, CUarray array, const CopyBox& box);
/// Of memory that is no array.
CopySide box_side(CUmemorytype type, Address host, Address device, const CopyBox& box);

/// The sides of CUDA_MEMCPY2D, CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER.
template <typename Description>
CopySide source_side(const BlockLookup& blocks, const Description& copy) {
    CopyBox box{.x_bytes = copy.srcXInBytes,
                .y = copy.srcY,
                .pitch = copy.srcPitch,
                .width_bytes = copy.WidthInBytes,
                .rows = copy.Height};
    if constexpr (requires { copy.Depth; }) {
        box.z = copy.srcZ;
        box.height = copy.srcHeight;
        box.slices = copy.Depth;
    }
    if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY) {
        return array_side(blocks, copy.srcArray, box);
    }
    return box_side(copy.srcMemoryType, reinterpret_cast<Address>(copy.srcHost), copy.srcDevice,
                    box);
}
template <typename Description>
CopySide destination_side(const BlockLookup& blocks, const Description& copy) {
    CopyBox box{.x_bytes = copy.dstXInBytes,
                .y = copy.dstY,
                .pitch = copy.dstPitch,
                .width_bytes = copy.WidthInBytes,
                .rows = copy.Height};
    if constexpr (requires { copy.Depth; }) {
        box.z = copy.dstZ;
        box.height = copy.dstHeight;
        box.slices = copy.Depth;
    }
    if (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
        return array_side(blocks, copy.dstArray, box);
    }
    return box_side(copy.dstMemoryType, reinterpret_cast<Address>(copy.dstHost), copy.dstDevice,
                    box);
}

/// Adds the accesses of a copy and what the host learns from it.
void add_copy(const BlockLookup& blocks, CallForm form, const CopySide& source,
              const CopySide& destination, Call& call);

/// Adds one copy of a batch: an asynchronous operation that teaches the host nothing.
void add_batch_copy(const BlockLookup& blocks, const CopySide& source, const CopySide& destination,
                    Call& call);
#if CUDA_VERSION >= 12080
void add_batch_copy(const BlockLookup& blocks, const CUDA_MEMCPY3D_BATCH_OP& copy, Call& call);
#endif

/// Adds a write whose completion teaches the host nothing.
void add_write(const BlockLookup& blocks, const ByteRange& range, Call& call);

void add_memset(const BlockLookup& blocks, CallForm form, ByteRange range, Call& call);

}  // namespace cuward::cupti
