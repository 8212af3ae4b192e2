#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What the environment says about the simulated machine. Read when the driver is loaded and again
// on simgpuReconfigure(), which lets one test process go through many settings.
namespace simgpu {

struct DelayRule {
    std::string kind;  // kernel, copy, htod, …, or empty for a driver function's name
    std::string glob;  // kernel or function name
    uint64_t ns = 0;
};

struct Config {
    int devices = 1;
    int driver_version = 13000;
    uint64_t memory_bytes = uint64_t{16} << 30;
    uint64_t kernel_ns = 3000;
    std::vector<DelayRule> delays;
    std::vector<std::string> twin_libraries;
    uint32_t generation = 0;  // counts readings
};

const Config& config();

struct ApiEntry;
// Applies the delay and fault rules to one driver function.
void configure(ApiEntry& entry);

bool glob_match(std::string_view pattern, std::string_view text);

// Delay of an operation kind (copy, htod, memset, …), of a kernel by name.
uint64_t delay_of(std::string_view kind);
uint64_t kernel_delay(std::string_view name);

}  // namespace simgpu
