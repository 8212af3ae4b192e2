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

/// Adds what the host memory at `source` holds, to be copied to `destination`. The memory need not
/// be readable: the driver has yet to refuse what is not.
void add_stored_addresses(const BlockLookup& blocks, Address source, Address destination,
                          std::uint64_t bytes, Call& call);

}  // namespace cuward::cupti
