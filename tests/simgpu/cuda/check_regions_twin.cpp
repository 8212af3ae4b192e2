#include <algorithm>

#include "../twin.hpp"
#include "core/resource/guard/region.hpp"
#include "module.hpp"

// The twin of the tool's own kernel, which no test program could bring along.
namespace simgpu {
namespace {

using cuward::guard::Region;

void check_regions(const Launch* launch) {
    const auto* regions = launch->parameter<const Region*>(0);
    auto* first_bad = launch->parameter<uint64_t*>(1);
    const auto count = launch->parameter<uint32_t>(2);
    for (uint32_t i = 0; i < count; ++i) {
        const auto* first = reinterpret_cast<const unsigned char*>(regions[i].address);
        const unsigned char* last = first + regions[i].bytes;
        const auto* bad = std::find_if(
            first, last, [&](unsigned char byte) { return byte != regions[i].pattern; });
        if (bad != last) {
            first_bad[i] = std::min(first_bad[i], static_cast<uint64_t>(bad - first));
        }
    }
}

[[maybe_unused]] const bool is_set = [] {
    set_twin(cuward::guard::kCheckKernel, check_regions);
    return true;
}();

}  // namespace
}  // namespace simgpu
