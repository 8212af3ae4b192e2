// Addresses of tracked blocks that a copy from host memory puts into device memory: tables of
// pointers, linked structures.
#pragma once

#include <cstdint>

#include "cupti/call.hpp"
#include "cupti/decode.hpp"

namespace cuward::cupti {

/// So many words at the start of a copy decide whether it is looked at further, so that ordinary
/// uploads cost next to nothing …
constexpr std::uint64_t kDecidingWords = 64;
/// … and so many bytes of it are looked at.
constexpr std::uint64_t kMostBytesLookedAt = std::uint64_t{64} << 10;

struct HostSource {
    Address start = 0;
    std::uint64_t bytes = 0;
    bool is_mapped = false;  ///< else it need not be there: the driver has yet to refuse the copy
};

/// Adds what the source holds, to be copied to `destination`.
void add_stored_addresses(const BlockLookup& blocks, HostSource source, Address destination,
                          Call& call);

}  // namespace cuward::cupti
