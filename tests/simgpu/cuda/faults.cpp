#include "faults.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "api.hpp"
#include "config.hpp"

namespace simgpu {
namespace {

struct Fault {
    std::string glob;
    uint32_t nth = 0;  // 0: every call
    CUresult result = CUDA_SUCCESS;
};

std::vector<Fault>& faults() {
    static std::vector<Fault>& instance = *new std::vector<Fault>;
    return instance;
}

bool matches(const Fault& fault, std::string_view symbol) {
    if (glob_match(fault.glob, symbol)) {
        return true;
    }
    // A rule for a function covers its per-thread form.
    const bool flavoured = symbol.ends_with("_ptsz") || symbol.ends_with("_ptds");
    return flavoured && glob_match(fault.glob, symbol.substr(0, symbol.size() - 5));
}

}  // namespace

void read_faults(std::string_view text) {
    faults().clear();
    while (!text.empty()) {
        const size_t end = text.find(',');
        const std::string part(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        const size_t equals = part.find('=');
        const size_t colon = part.find(':');
        if (equals == std::string::npos) {
            continue;
        }
        Fault fault;
        fault.glob = part.substr(0, std::min(colon, equals));
        if (colon < equals && part[colon + 1] != '*') {
            fault.nth = static_cast<uint32_t>(std::strtoul(part.c_str() + colon + 1, nullptr, 10));
        }
        fault.result = static_cast<CUresult>(std::strtol(part.c_str() + equals + 1, nullptr, 10));
        faults().push_back(std::move(fault));
    }
}

bool has_fault(std::string_view symbol) {
    for (const Fault& fault : faults()) {
        if (matches(fault, symbol)) {
            return true;
        }
    }
    return false;
}

std::optional<CUresult> next_fault(ApiEntry& api) {
    const uint32_t call = api.calls.fetch_add(1) + 1;
    for (const Fault& fault : faults()) {
        if ((fault.nth == 0 || fault.nth == call) && matches(fault, api.symbol)) {
            return fault.result;
        }
    }
    return std::nullopt;
}

}  // namespace simgpu
