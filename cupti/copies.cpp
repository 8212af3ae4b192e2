#include "cupti/copies.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cupti/stored_addresses.hpp"

namespace cuward::cupti {
namespace {

/// Whether any memory can be so large; the driver refuses a box that is not.
bool is_possible(const ByteRange& range) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 47;
    const auto fits = [](std::uint64_t count, std::uint64_t pitch) {
        return count == 1 || (pitch <= kMost && count <= kMost / std::max<std::uint64_t>(pitch, 1));
    };
    return range.is_linear() || (range.width <= kMost && fits(range.rows, range.pitch) &&
                                 fits(range.slices, range.slice_pitch));
}

/// The same bytes, said with fewer rows and slices where they touch one another.
ByteRange simplify(ByteRange range) {
    if (range.empty() || !is_possible(range)) {
        return {};
    }
    if (range.slices > 1 && range.slice_pitch == range.rows * range.pitch) {
        range.rows *= range.slices;
        range.slices = 1;
    }
    if (range.rows > 1 && range.slices == 1 && range.pitch == range.width) {
        range.width *= range.rows;
        range.rows = 1;
    }
    if (range.rows == 1) {
        range.pitch = 0;
    }
    if (range.slices == 1) {
        range.slice_pitch = 0;
    }
    return range;
}

std::uint64_t bytes_in(const ByteRange& range) {
    return range.width * range.rows * range.slices;
}

std::optional<KnownBlock> block_at(const BlockLookup& blocks, const CopySide& side) {
    return side.declared != Declared::Array && blocks.may_be_tracked(side.range.lo)
               ? blocks.find_block(side.range.lo)
               : std::nullopt;
}

MemoryType memory_type(const CopySide& side, const std::optional<KnownBlock>& block) {
    if (side.declared == Declared::Array) {
        return MemoryType::Device;
    }
    if (block) {
        switch (block->kind) {
            case BlockKind::Host:
            case BlockKind::Registered:
            case BlockKind::PhysicalHost:
                return MemoryType::Pinned;
            case BlockKind::Managed:
            case BlockKind::ManagedGlobal:
                return MemoryType::Managed;
            default:
                return MemoryType::Device;
        }
    }
    // An address of no kind in no block: most probably the program's ordinary memory.
    return side.declared == Declared::Device ? MemoryType::Device : MemoryType::Pageable;
}

bool is_host(MemoryType type) {
    return type == MemoryType::Pinned || type == MemoryType::Pageable;
}

/// Whether memory can be read for certain: registered memory may belong to a device, and by its
/// device address the host may not reach what it can by its own.
bool is_mapped(const std::optional<KnownBlock>& block, const CopySide& side) {
    return block && block->kind == BlockKind::Host && !block->is_alias &&
           side.range.hi() <= block->end;
}

void add_access(const BlockLookup& blocks, const CopySide& side, Access access, Call& call) {
    const ByteRange& range = side.range;
    const bool to_the_end =
        side.declared != Declared::Array && !side.range_exact && range.width == 0;
    if (range.empty() && !to_the_end) {
        return;
    }
    if (side.declared == Declared::Array || blocks.may_be_tracked(range.lo) ||
        blocks.may_be_tracked(range.hi() - 1)) {
        call.accesses.push_back(
            {.range = range, .access = access, .range_exact = side.range_exact});
    }
}

}  // namespace

CopySide linear_side(Declared declared, Address address, std::uint64_t bytes) {
    return {.declared = declared, .range = ByteRange::linear(address, bytes)};
}

CopySide array_side(const BlockLookup& blocks, CUarray array, std::uint64_t offset,
                    std::uint64_t bytes) {
    const auto place = blocks.find_array(reinterpret_cast<Address>(array));
    if (!place) {
        return {.declared = Declared::Array, .range = {}};
    }
    return {.declared = Declared::Array,
            .range = ByteRange::linear(place->range.lo + offset, bytes)};
}

CopySide array_side(const BlockLookup& blocks, CUarray array, const CopyBox& box) {
    const auto place = blocks.find_array(reinterpret_cast<Address>(array));
    if (!place) {
        return {.declared = Declared::Array, .range = {}};
    }
    const ArrayLayout& layout = place->layout;
    if (!layout.is_known) {
        return {.declared = Declared::Array, .range = place->range, .range_exact = false};
    }
    const Address first =
        place->range.lo + box.z * layout.slice_bytes() + box.y * layout.row_bytes() + box.x_bytes;
    return {.declared = Declared::Array,
            .range = simplify({.lo = first,
                               .width = box.width_bytes,
                               .pitch = layout.row_bytes(),
                               .rows = box.rows,
                               .slice_pitch = layout.slice_bytes(),
                               .slices = box.slices})};
}

CopySide box_side(CUmemorytype type, Address host, Address device, const CopyBox& box) {
    // "If srcMemoryType is CU_MEMORYTYPE_UNIFIED, srcDevice and srcPitch specify the (unified
    // virtual address space) base address" (cuMemcpy2D). Start and slices as cuMemcpy3D's page
    // gives them: srcDevice + (srcZ * srcHeight + srcY) * srcPitch + srcXInBytes.
    const Address base = type == CU_MEMORYTYPE_HOST ? host : device;
    const ByteRange range{.lo = base + (box.z * box.height + box.y) * box.pitch + box.x_bytes,
                          .width = box.width_bytes,
                          .pitch = box.pitch,
                          .rows = box.rows,
                          .slice_pitch = box.height * box.pitch,
                          .slices = box.slices};
    const Declared declared = type == CU_MEMORYTYPE_HOST     ? Declared::Host
                              : type == CU_MEMORYTYPE_DEVICE ? Declared::Device
                                                             : Declared::Unified;
    return {.declared = declared, .range = simplify(range)};
}

void add_copy(const BlockLookup& blocks, CallForm form, const CopySide& source,
              const CopySide& destination, Call& call) {
    add_batch_copy(blocks, source, destination, call);
    const std::uint64_t bytes =
        bytes_in(source.declared == Declared::Array ? destination.range : source.range);
    const std::optional<KnownBlock> block = block_at(blocks, source);
    const MemoryType from = memory_type(source, block);
    const MemoryType to = memory_type(destination, block_at(blocks, destination));
    if (is_host(from) && !is_host(to) && source.range.is_linear() &&
        destination.range.is_linear() && blocks.may_be_tracked(destination.range.lo)) {
        add_stored_addresses(
            blocks,
            {.start = source.range.lo, .bytes = bytes, .is_mapped = is_mapped(block, source)},
            destination.range.lo, call);
    }
    const HostEdges edges = copy_edges(form, from, to, bytes);
    call.operation.earlier_work_to_host = edges.earlier_work;
    call.operation.completion_to_host = edges.completion;
    if (form == CallForm::Synchronous && (blocks.always_synchronizes(source.range.lo) ||
                                          blocks.always_synchronizes(destination.range.lo))) {
        call.operation.completion_to_host = Edge::Documented;
    }
}

void add_batch_copy(const BlockLookup& blocks, const CopySide& source, const CopySide& destination,
                    Call& call) {
    add_access(blocks, source, Access::Read, call);
    add_access(blocks, destination, Access::Write, call);
}

#if CUDA_VERSION >= 12080
namespace {

/// Extents, lengths and offsets count bytes, or the elements of the array if one side is one
/// (cuMemcpy3DBatchAsync). 0: their size is not known.
std::uint64_t unit_of(const BlockLookup& blocks, const CUDA_MEMCPY3D_BATCH_OP& copy) {
    for (const CUmemcpy3DOperand* operand : {&copy.src, &copy.dst}) {
        if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
            const auto place =
                blocks.find_array(reinterpret_cast<Address>(operand->op.array.array));
            return place && place->layout.is_known ? place->layout.element_bytes : 0;
        }
    }
    return 1;
}

CopySide operand_side(const BlockLookup& blocks, const CUmemcpy3DOperand& operand,
                      const CUextent3D& extent, std::uint64_t unit) {
    CopyBox box{.width_bytes = extent.width * unit, .rows = extent.height, .slices = extent.depth};
    if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const CUoffset3D& offset = operand.op.array.offset;
        box.x_bytes = offset.x * unit;
        box.y = offset.y;
        box.z = offset.z;
        return array_side(blocks, operand.op.array.array, box);
    }
    const auto& memory = operand.op.ptr;
    if (unit == 0) {
        return {.declared = Declared::Unified, .range = {.lo = memory.ptr}, .range_exact = false};
    }
    // A length of 0 means tightly packed.
    box.pitch = (memory.rowLength != 0 ? memory.rowLength : extent.width) * unit;
    box.height = memory.layerHeight != 0 ? memory.layerHeight : extent.height;
    return box_side(CU_MEMORYTYPE_UNIFIED, 0, memory.ptr, box);
}

}  // namespace

void add_batch_copy(const BlockLookup& blocks, const CUDA_MEMCPY3D_BATCH_OP& copy, Call& call) {
    const std::uint64_t unit = unit_of(blocks, copy);
    add_batch_copy(blocks, operand_side(blocks, copy.src, copy.extent, unit),
                   operand_side(blocks, copy.dst, copy.extent, unit), call);
}
#endif

void add_write(const BlockLookup& blocks, const ByteRange& range, Call& call) {
    add_access(blocks, {.declared = Declared::Device, .range = range}, Access::Write, call);
}

void add_memset(const BlockLookup& blocks, CallForm form, ByteRange range, Call& call) {
    const CopySide destination{.declared = Declared::Device, .range = simplify(range)};
    add_access(blocks, destination, Access::Write, call);
    const HostEdges edges =
        memset_edges(form, memory_type(destination, block_at(blocks, destination)));
    call.operation.earlier_work_to_host = edges.earlier_work;
    call.operation.completion_to_host = edges.completion;
    if (form == CallForm::Synchronous && blocks.always_synchronizes(range.lo)) {
        call.operation.completion_to_host = Edge::Documented;
    }
}

}  // namespace cuward::cupti
