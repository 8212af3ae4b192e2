// Texture and surface objects: which memory is behind a handle that a kernel is given.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/operation.hpp"

namespace cuward::cupti {

enum class ObjectKind : std::uint8_t { Texture, Surface };

/// Thread-safe. Handles are small numbers, counted in each context.
class MemoryObjects {
  public:
    /// Takes no lock.
    bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

    /// `access`: what a kernel may do by the object. A texture is read, a surface read and written,
    /// as a kernel's `T*` is.
    void add(ObjectKind kind, ContextId context, std::uint64_t handle, const MemoryAccess& access);
    void remove(ObjectKind kind, ContextId context, std::uint64_t handle);
    void forget_context(ContextId context);

    /// Calls `visit(access)` for the object of this handle. A number that is both a texture and a
    /// surface gives both, and neither is known to be meant.
    template <typename Visit>
    void for_each(ContextId context, std::uint64_t handle, Visit&& visit) const {
        std::optional<MemoryAccess> texture = find(ObjectKind::Texture, context, handle);
        std::optional<MemoryAccess> surface = find(ObjectKind::Surface, context, handle);
        const bool is_ambiguous = texture && surface;
        for (auto* const found : {&texture, &surface}) {
            if (*found) {
                (*found)->direction_known = !is_ambiguous;
                visit(**found);
            }
        }
    }

  private:
    struct Key {
        ContextId context;
        std::uint64_t handle;
        ObjectKind kind;
        auto operator<=>(const Key&) const = default;
    };

    std::optional<MemoryAccess> find(ObjectKind kind, ContextId context,
                                     std::uint64_t handle) const;

    mutable std::mutex mutex_;
    std::map<Key, MemoryAccess> objects_;
    std::atomic<std::size_t> count_{0};
};

}  // namespace cuward::cupti
