#include "core/log/process.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <fstream>

namespace cuward {

std::string program_path() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

std::vector<std::string> program_arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string argument; std::getline(file, argument, '\0');) {
        arguments.push_back(argument);
    }
    return arguments;
}

std::string working_directory() {
    std::array<char, PATH_MAX> path{};
    return getcwd(path.data(), path.size()) != nullptr ? path.data() : "";
}

std::string host_name() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::optional<long> rank() {
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                 "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "RANK"}) {
        const char* value = std::getenv(variable);
        char* end = nullptr;
        if (value != nullptr && *value != '\0') {
            const long number = std::strtol(value, &end, 10);
            if (*end == '\0') {
                return number;
            }
        }
    }
    return std::nullopt;
}

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace cuward
