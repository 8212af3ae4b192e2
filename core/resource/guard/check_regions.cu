// Checks canaries and poison on the device; see region.hpp.
#include "core/resource/guard/region.hpp"

namespace {

using Word = unsigned long long;
constexpr Word kWordBytes = sizeof(Word);

/// The bits of the word at `at` that differ from the pattern and belong to the region.
__device__ Word wrong_bits(const cuward::guard::Region& region, Word at) {
    Word wrong = *reinterpret_cast<const Word*>(at) ^ (region.pattern * 0x0101010101010101ULL);
    const Word end = region.address + region.bytes;
    if (at < region.address) {
        wrong &= ~Word{0} << (8 * (region.address - at));
    }
    if (at + kWordBytes > end) {
        wrong &= ~Word{0} >> (8 * (at + kWordBytes - end));
    }
    return wrong;
}

}  // namespace

// Whole words, also at the ends: allocations begin and end at multiples of more than a word.
extern "C" __global__ void cuward_check_regions(const cuward::guard::Region* regions,
                                                Word* first_bad, unsigned count) {
    const Word first_word = Word{blockIdx.x} * blockDim.x + threadIdx.x;
    const Word stride = Word{gridDim.x} * blockDim.x * kWordBytes;
    for (unsigned i = blockIdx.y; i < count; i += gridDim.y) {
        const cuward::guard::Region region = regions[i];
        const Word end = region.address + region.bytes;
        Word at = region.address / kWordBytes * kWordBytes + first_word * kWordBytes;
        for (; at < end; at += stride) {
            const Word wrong = wrong_bits(region, at);
            if (wrong != 0) {
                const int byte = (__ffsll(static_cast<long long>(wrong)) - 1) / 8;
                atomicMin(first_bad + i, at + byte - region.address);
                break;
            }
        }
    }
}
