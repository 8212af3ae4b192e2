#include "cupti/memory_objects.hpp"

namespace cuward::cupti {

void MemoryObjects::add(ObjectKind kind, ContextId context, std::uint64_t handle,
                        const MemoryAccess& access) {
    const std::lock_guard lock(mutex_);
    objects_.insert_or_assign({context, handle, kind}, access);
    count_ = objects_.size();
}

void MemoryObjects::remove(ObjectKind kind, ContextId context, std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    objects_.erase({context, handle, kind});
    count_ = objects_.size();
}

void MemoryObjects::forget_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    std::erase_if(objects_, [&](const auto& entry) { return entry.first.context == context; });
    count_ = objects_.size();
}

std::optional<MemoryAccess> MemoryObjects::find(ObjectKind kind, ContextId context,
                                                std::uint64_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find({context, handle, kind});
    return found != objects_.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace cuward::cupti
