#include "config.hpp"

#include <cstdlib>

#include "api.hpp"
#include "faults.hpp"

namespace simgpu {
namespace {

uint64_t number_from(const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : otherwise;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const size_t end = text.find(separator);
        const std::string_view part = text.substr(0, end);
        if (!part.empty()) {
            parts.push_back(part);
        }
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return parts;
}

std::string_view environment(const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::string_view(text) : std::string_view{};
}

std::vector<DelayRule> parse_delays(std::string_view text) {
    std::vector<DelayRule> rules;
    for (const std::string_view part : split(text, ',')) {
        const size_t equals = part.rfind('=');
        if (equals == std::string_view::npos) {
            continue;
        }
        DelayRule rule;
        rule.ns = 1000 * std::strtoull(std::string(part.substr(equals + 1)).c_str(), nullptr, 0);
        const std::string_view what = part.substr(0, equals);
        const size_t colon = what.find(':');
        if (colon != std::string_view::npos) {
            rule.kind = what.substr(0, colon);
            rule.glob = what.substr(colon + 1);
        } else if (what.substr(0, 2) == "cu") {
            rule.glob = what;
        } else {
            rule.kind = what;
            rule.glob = "*";
        }
        rules.push_back(std::move(rule));
    }
    return rules;
}

std::string_view without_flavour(std::string_view symbol) {
    for (const std::string_view flavour : {"_ptsz", "_ptds"}) {
        if (symbol.size() > flavour.size() && symbol.ends_with(flavour)) {
            return symbol.substr(0, symbol.size() - flavour.size());
        }
    }
    return symbol;
}

void read(Config& settings) {
    settings.devices = static_cast<int>(number_from("SIMGPU_DEVICES", 1));
    settings.driver_version = static_cast<int>(number_from("SIMGPU_DRIVER_VERSION", 13000));
    settings.memory_bytes = number_from("SIMGPU_MEMORY_MB", 16384) << 20;
    settings.kernel_ns = 1000 * number_from("SIMGPU_KERNEL_US", 3);
    settings.delays = parse_delays(environment("SIMGPU_DELAY_US"));
    settings.twin_libraries.clear();
    for (const std::string_view library : split(environment("SIMGPU_TWINS"), ':')) {
        settings.twin_libraries.emplace_back(library);
    }
    read_faults(environment("SIMGPU_FAIL"));
    ++settings.generation;
}

Config& mutable_config() {
    // Read on first use, which is when the first entry registers itself; never destroyed, because
    // workers may still look at it while the process exits.
    static Config& instance = *[] {
        auto* settings = new Config;
        read(*settings);
        return settings;
    }();
    return instance;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
    while (!pattern.empty()) {
        if (pattern.front() == '*') {
            pattern.remove_prefix(1);
            for (size_t skip = 0; skip <= text.size(); ++skip) {
                if (glob_match(pattern, text.substr(skip))) {
                    return true;
                }
            }
            return false;
        }
        if (text.empty() || (pattern.front() != '?' && pattern.front() != text.front())) {
            return false;
        }
        pattern.remove_prefix(1);
        text.remove_prefix(1);
    }
    return text.empty();
}

const Config& config() {
    return mutable_config();
}

void configure(ApiEntry& entry) {
    entry.delay_ns = 0;
    for (const DelayRule& rule : config().delays) {
        if (rule.kind.empty() && (glob_match(rule.glob, entry.symbol) ||
                                  glob_match(rule.glob, without_flavour(entry.symbol)))) {
            entry.delay_ns = rule.ns;
        }
    }
    if (has_fault(entry.symbol)) {
        entry.intercept.fetch_or(intercept_fault);
    } else {
        entry.intercept.fetch_and(~intercept_fault);
    }
    entry.calls.store(0);
}

uint64_t delay_of(std::string_view kind) {
    uint64_t ns = 0;
    for (const DelayRule& rule : config().delays) {
        if (rule.kind == kind) {
            ns = rule.ns;
        }
    }
    return ns;
}

uint64_t kernel_delay(std::string_view name) {
    for (const DelayRule& rule : config().delays) {
        if (rule.kind == "kernel" && glob_match(rule.glob, name)) {
            return rule.ns;
        }
    }
    return config().kernel_ns;
}

SIM_EXPORT void simgpuReconfigure() {
    read(mutable_config());
    for (ApiEntry* entry = ApiEntry::first(); entry != nullptr; entry = entry->next) {
        configure(*entry);
    }
}

}  // namespace simgpu
