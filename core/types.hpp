// The vocabulary of the whole project: plain values that name streams, blocks, accesses and places.
#pragma once

#include <cstdint>
#include <limits>

namespace cuward {

/// What an operation does to the bytes it touches.
enum class Access : std::uint8_t { Read, Write, ReadWrite };

constexpr bool writes(Access access) {
    return access != Access::Read;
}
constexpr bool reads(Access access) {
    return access != Access::Write;
}

/// Life of a block. Retired: given back by the program, its free is still pending on the device.
enum class BlockState : std::uint8_t { Live, Retired, Quarantined, Freed };

/// An address in CUDA's unified address space, in bytes.
using Address = std::uint64_t;

/// A CUcontext as a value; 0 is no context.
using ContextId = std::uint64_t;

/// A driver stream handle as a value. Handle 0 means the legacy or the per-thread stream depending
/// on the entry point called (Driver API manual, "Stream synchronization behavior"), so whoever
/// decodes a call replaces it by one of the two constants below.
enum class StreamId : std::uint64_t {};
constexpr StreamId kLegacyStream{1};     // CU_STREAM_LEGACY
constexpr StreamId kPerThreadStream{2};  // CU_STREAM_PER_THREAD
constexpr StreamId kNoStream{std::numeric_limits<std::uint64_t>::max()};

/// A stream as a call names it: a handle means nothing without the context it is used in.
struct StreamRef {
    ContextId context = 0;
    StreamId stream = kLegacyStream;
    std::uint32_t thread =
        0;  ///< kernel thread id for kPerThreadStream, which every thread has its own of
};

/// Counts allocations; a reused address gets a new generation, so it is never mistaken for the old
/// block.
enum class Generation : std::uint64_t {};

/// What the program or a decorator calls an allocation; 0 is untagged.
enum class AllocTag : std::uint32_t {};

/// Identifiers of records in the log; 0 is none.
enum class StackId : std::uint32_t {};
enum class KernelId : std::uint32_t {};

}  // namespace cuward
