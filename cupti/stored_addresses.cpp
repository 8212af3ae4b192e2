#include "cupti/stored_addresses.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace cuward::cupti {
namespace {

using Words = std::array<Address, kDecidingWords>;

/// Reads memory of this process that may not be there; the words that could be read.
std::span<const Address> read(Address from, std::uint64_t bytes, Words& words) {
    const std::uint64_t wanted = std::min<std::uint64_t>(bytes, sizeof words);
    const iovec here{words.data(), wanted};
    const iovec there{reinterpret_cast<void*>(from), wanted};
    const ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    return std::span(words).first(got > 0 ? static_cast<std::size_t>(got) / sizeof(Address) : 0);
}

}  // namespace

void add_stored_addresses(const BlockLookup& blocks, Address source, Address destination,
                          std::uint64_t bytes, Call& call) {
    // Kernels load aligned words.
    const std::uint64_t skipped =
        (sizeof(Address) - destination % sizeof(Address)) % sizeof(Address);
    if (bytes < skipped + sizeof(Address)) {
        return;
    }
    Words words;
    const std::uint64_t end = std::min(bytes, kMostBytesLookedAt);
    for (std::uint64_t at = skipped; at + sizeof(Address) <= end; at += sizeof words) {
        const std::size_t found_before = call.stored.size();
        for (const Address& word : read(source + at, end - at, words)) {
            if (blocks.may_be_tracked(word)) {
                const auto offset = static_cast<std::uint64_t>(&word - words.data()) * sizeof word;
                call.stored.push_back({.place = destination + at + offset,
                                       .value = word,
                                       .begins_a_table = at + offset == 0});
            }
        }
        if (at == skipped && call.stored.size() == found_before) {
            return;
        }
    }
}

}  // namespace cuward::cupti
