// Where resources write down what they are asked for.
#pragma once

#include <cstdint>

#include "core/resource/device_memory_resource.hpp"

namespace cuward {

enum class MemoryOperationKind : std::uint8_t { Allocate, Free, Forget };

/// One call of a resource, and how it ended.
struct MemoryOperation {
    MemoryOperationKind kind = MemoryOperationKind::Allocate;
    DeviceBlock block;            ///< of an allocation that failed: what was asked for, ptr 0
    StreamId stream = kNoStream;  ///< that the call is ordered on
    std::size_t outstanding = 0;  ///< bytes_outstanding() after it
    ResourceResult<void> result{};
};

class ResourceLog {
  public:
    virtual ~ResourceLog() = default;

    /// Thread-safe; makes no driver call.
    virtual void memory(const MemoryOperation& operation) = 0;
};

}  // namespace cuward
