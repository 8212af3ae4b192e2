// What all decorators share: a resource over another one that changes nothing.
#pragma once

#include <memory>
#include <utility>

#include "core/resource/device_memory_resource.hpp"

namespace cuward {

/// Hands every call on to the inner resource; a decorator overrides those that it changes.
class ForwardingResource : public DeviceMemoryResource {
  public:
    explicit ForwardingResource(std::unique_ptr<DeviceMemoryResource> inner)
        : inner_(std::move(inner)) {}

    ResourceResult<DeviceBlock> allocate(std::size_t bytes, StreamId stream,
                                         AllocTag tag) override {
        return inner_->allocate(bytes, stream, tag);
    }
    ResourceResult<void> deallocate(const DeviceBlock& block) override {
        return inner_->deallocate(block);
    }
    ResourceResult<void> deallocate_on(const DeviceBlock& block, StreamId free_stream) override {
        return inner_->deallocate_on(block, free_stream);
    }
    ResourceResult<void> deallocate_synchronously(const DeviceBlock& block) override {
        return inner_->deallocate_synchronously(block);
    }

    std::optional<DeviceBlock> find(Address address) const override {
        return inner_->find(address);
    }
    bool hides(Address address) const override { return inner_->hides(address); }
    ResourceResult<void> forget(const BlockId& block) override { return inner_->forget(block); }
    void forget_context(ContextId context) override { inner_->forget_context(context); }

    void context_ending(ContextId context) override { inner_->context_ending(context); }

    int device_ordinal() const override { return inner_->device_ordinal(); }
    std::size_t bytes_outstanding() const override { return inner_->bytes_outstanding(); }
    void reap_pending() override { inner_->reap_pending(); }
    void await_pending() override { inner_->await_pending(); }
    AsyncCudaResource* pooled() override { return inner_->pooled(); }
    void check_all() override { inner_->check_all(); }

    bool supports_block_use_tracking() const override {
        return inner_->supports_block_use_tracking();
    }
    ResourceResult<void> record_block_use(const BlockId& block, StreamId use_stream) override {
        return inner_->record_block_use(block, use_stream);
    }
    ResourceResult<void> prepare_block_use(const BlockId& block, StreamId use_stream,
                                           Access access) override {
        return inner_->prepare_block_use(block, use_stream, access);
    }
    ResourceResult<void> finish_block_use(const BlockId& block, StreamId use_stream,
                                          Access access) override {
        return inner_->finish_block_use(block, use_stream, access);
    }

  protected:
    DeviceMemoryResource& inner() { return *inner_; }
    const DeviceMemoryResource& inner() const { return *inner_; }

  private:
    std::unique_ptr<DeviceMemoryResource> inner_;
};

}  // namespace cuward
