// Writes down every allocation and free.
#pragma once

#include "core/resource/forwarding_resource.hpp"
#include "core/resource/resource_log.hpp"

namespace cuward {

/// Changes nothing but the log, which the caller keeps alive. Uses are not logged.
class LoggingResource final : public ForwardingResource {
  public:
    LoggingResource(std::unique_ptr<DeviceMemoryResource> inner, ResourceLog& log)
        : ForwardingResource(std::move(inner)), log_(log) {}

    ResourceResult<DeviceBlock> allocate(std::size_t bytes, StreamId stream, AllocTag tag) override;
    ResourceResult<void> deallocate(const DeviceBlock& block) override;
    ResourceResult<void> deallocate_on(const DeviceBlock& block, StreamId free_stream) override;
    ResourceResult<void> deallocate_synchronously(const DeviceBlock& block) override;
    ResourceResult<void> forget(const BlockId& block) override;

  private:
    /// What is known of a block that is about to go: callers name it, and need not say more.
    DeviceBlock described(const BlockId& id) const;
    ResourceResult<void> logged(MemoryOperationKind kind, const DeviceBlock& block, StreamId stream,
                                const ResourceResult<void>& result);

    ResourceLog& log_;
};

}  // namespace cuward
