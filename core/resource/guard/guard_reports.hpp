// Whom the guard tells what it finds, and asks what it must not disturb.
#pragma once

#include <string_view>

#include "core/resource/device_memory_resource.hpp"

namespace cuward {

/// Thread-safe, and called without any lock of the resource held.
class GuardReports {
  public:
    virtual ~GuardReports() = default;

    /// Whether any stream of the process builds a graph: then nothing may be called that loads code
    /// or waits.
    virtual bool is_capturing() = 0;

    /// Bytes next to a block were written; `first_bad` is the address of the first. Told once a
    /// block, maybe after its free.
    virtual void written_out_of_bounds(const BlockId& block, Address first_bad) = 0;
    /// Bytes of a block were written after its free.
    virtual void written_after_free(const BlockId& block, Address first_bad) = 0;

    /// Something the guard cannot do, for a person. Told once.
    virtual void note(std::string_view line) = 0;
};

}  // namespace cuward
