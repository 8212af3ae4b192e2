#include "core/resource/logging_resource.hpp"

namespace cuward {

ResourceResult<DeviceBlock> LoggingResource::allocate(std::size_t bytes, StreamId stream,
                                                      AllocTag tag) {
    ResourceResult<DeviceBlock> block = inner().allocate(bytes, stream, tag);
    const DeviceBlock refused{.device_ordinal = device_ordinal(),
                              .alloc_stream = stream,
                              .bytes = bytes,
                              .tag = tag,
                              .state = BlockState::Freed};
    (void)logged(MemoryOperationKind::Allocate, block.value_or(refused), stream,
                 block.map([](const DeviceBlock&) {}));
    return block;
}

ResourceResult<void> LoggingResource::deallocate(const DeviceBlock& block) {
    const DeviceBlock known = described(BlockId(block));
    return logged(MemoryOperationKind::Free, known, known.alloc_stream, inner().deallocate(block));
}

ResourceResult<void> LoggingResource::deallocate_on(const DeviceBlock& block,
                                                    StreamId free_stream) {
    const DeviceBlock known = described(BlockId(block));
    return logged(MemoryOperationKind::Free, known, free_stream,
                  inner().deallocate_on(block, free_stream));
}

ResourceResult<void> LoggingResource::deallocate_synchronously(const DeviceBlock& block) {
    const DeviceBlock known = described(BlockId(block));
    return logged(MemoryOperationKind::Free, known, kNoStream,
                  inner().deallocate_synchronously(block));
}

ResourceResult<void> LoggingResource::forget(const BlockId& block) {
    const DeviceBlock known = described(block);
    return logged(MemoryOperationKind::Forget, known, kNoStream, inner().forget(block));
}

DeviceBlock LoggingResource::described(const BlockId& id) const {
    const std::optional<DeviceBlock> live = inner().find(id.ptr);
    if (live && BlockId(*live) == id) {
        return *live;
    }
    return {.ptr = id.ptr,
            .device_ordinal = id.device_ordinal,
            .alloc_stream = id.alloc_stream,
            .generation = id.generation,
            .state = BlockState::Freed};
}

ResourceResult<void> LoggingResource::logged(MemoryOperationKind kind, const DeviceBlock& block,
                                             StreamId stream, const ResourceResult<void>& result) {
    log_.memory({.kind = kind,
                 .block = block,
                 .stream = stream,
                 .outstanding = bytes_outstanding(),
                 .result = result});
    return result;
}

}  // namespace cuward
