// A stretch of device memory that must hold one byte value throughout: what host and device agree
// on.
#pragma once

#include <cstdint>

namespace cuward::guard {

struct Region {
    std::uint64_t address;
    std::uint64_t bytes;
    std::uint64_t pattern;  ///< of one byte
};

/// The name of the kernel that checks regions:
/// `void(const Region* regions, uint64_t* first_bad, uint32_t count)` lowers `first_bad[i]` to the
/// offset of the first byte in `regions[i]` that differs. Threads along x share the regions' bytes,
/// blocks along y the regions.
inline constexpr const char* kCheckKernel = "cuward_check_regions";

/// What `first_bad` holds while no byte differs.
inline constexpr std::uint64_t kIntact = ~std::uint64_t{0};

}  // namespace cuward::guard
