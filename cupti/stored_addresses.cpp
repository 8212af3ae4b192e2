#include "cupti/stored_addresses.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace cuward::cupti {
namespace {

using Words = std::array<Address, kDecidingWords>;

/// The words of the source from `at` on, as far as they can be read and there is room.
std::span<const Address> read(const HostSource& source, std::uint64_t at, Words& words) {
    const std::uint64_t wanted = std::min<std::uint64_t>(source.bytes - at, sizeof words);
    auto* const from = reinterpret_cast<void*>(source.start + at);
    if (source.is_mapped) {
        std::memcpy(words.data(), from, wanted);
        return std::span(words).first(wanted / sizeof(Address));
    }
    const iovec here{words.data(), wanted};
    const iovec there{from, wanted};
    const ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    return std::span(words).first(got > 0 ? static_cast<std::size_t>(got) / sizeof(Address) : 0);
}

}  // namespace

void add_stored_addresses(const BlockLookup& blocks, HostSource source, Address destination,
                          Call& call) {
    // Kernels load aligned words.
    const std::uint64_t skipped =
        (sizeof(Address) - destination % sizeof(Address)) % sizeof(Address);
    source.bytes = std::min(source.bytes, kMostBytesLookedAt);
    Words words;
    for (std::uint64_t at = skipped; at + sizeof(Address) <= source.bytes; at += sizeof words) {
        const std::size_t found_before = call.stored.size();
        for (const Address& word : read(source, at, words)) {
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
