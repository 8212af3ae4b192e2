#include "core/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

namespace cuward {
namespace {

tl::unexpected<std::string> refuse(const char* name, std::string_view value, const char* allowed) {
    return tl::unexpected(std::string(name) + " is '" + std::string(value) + "'; it takes " +
                          allowed);
}

/// The index of `value` in `words`.
tl::expected<std::size_t, std::string> read_word(const Variables& variables, const char* name,
                                                 std::vector<std::string_view> words,
                                                 const char* allowed) {
    const auto value = variables(name);
    if (!value || value->empty()) {
        return 0;
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (*value == words[i]) {
            return i;
        }
    }
    return refuse(name, *value, allowed);
}

std::optional<std::uint64_t> unit_size(std::string_view unit) {
    if (unit.empty() || unit == "B") {
        return 1;
    }
    constexpr std::string_view kUnits = "KMGT";
    const std::size_t power = kUnits.find(unit.front());
    const std::string_view rest = unit.substr(1);
    if (power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "iB")) {
        return std::nullopt;
    }
    return std::uint64_t{1} << (10 * (power + 1));
}

std::optional<std::uint64_t> read_bytes(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) {
        return std::nullopt;
    }
    const auto unit = unit_size(text.substr(static_cast<std::size_t>(end - text.data())));
    if (!unit || number > std::numeric_limits<std::uint64_t>::max() / *unit) {
        return std::nullopt;
    }
    return number * *unit;
}

constexpr const char* kBackends = "direct, async, guard or async,guard";

tl::expected<void, std::string> read_backend(const std::string& value, Settings& settings) {
    bool direct = false;
    bool async = false;
    std::string_view rest = value;
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
        direct = direct || word == "direct";
        async = async || word == "async";
        settings.guard = settings.guard || word == "guard";
        if (word != "direct" && word != "async" && word != "guard") {
            return refuse("CUWARD_BACKEND", value, kBackends);
        }
    }
    if (direct && async) {
        return refuse("CUWARD_BACKEND", value, "one of direct and async, not both");
    }
    settings.backend = async ? Backend::Async : Backend::Direct;
    return {};
}

constexpr const char* kBudgets = "a number of bytes like 512M or 8GiB, with :device or :process";

tl::expected<BudgetLimit, std::string> read_budget(const std::string& value) {
    const std::size_t colon = value.find(':');
    const std::string_view scope =
        colon == std::string::npos ? "device" : std::string_view(value).substr(colon + 1);
    const auto bytes = read_bytes(std::string_view(value).substr(0, colon));
    if (!bytes || *bytes == 0 || (scope != "device" && scope != "process")) {
        return refuse("CUWARD_BUDGET", value, kBudgets);
    }
    return BudgetLimit{.bytes = *bytes, .for_process = scope == "process"};
}

tl::expected<void, std::string> read_memory(const Variables& variables, Settings& settings) {
    if (const auto backend = variables("CUWARD_BACKEND")) {
        if (auto read = read_backend(*backend, settings); !read) {
            return read;
        }
    }
    if (const auto value = variables("CUWARD_GUARD_QUARANTINE"); value && !value->empty()) {
        const auto bytes = read_bytes(*value);
        if (!bytes) {
            return refuse("CUWARD_GUARD_QUARANTINE", *value, "a number of bytes like 512M or 8GiB");
        }
        settings.quarantine_bytes = *bytes;
    }
    if (const auto value = variables("CUWARD_BUDGET"); value && !value->empty()) {
        const auto budget = read_budget(*value);
        if (!budget) {
            return tl::unexpected(budget.error());
        }
        settings.budget = *budget;
    }
    return read_word(variables, "CUWARD_LOG_MEMORY", {"0", "1"}, "0 or 1")
        .and_then([&](std::size_t word) {
            settings.log_memory = word == 1;
            return read_word(variables, "CUWARD_GUARD_FRONT", {"1", "0"}, "0 or 1");
        })
        .and_then([&](std::size_t word) {
            settings.guard_front = word == 0;
            return read_word(variables, "CUWARD_GUARD_CHECK", {"free", "sync"}, "free or sync");
        })
        .map([&](std::size_t word) { settings.guard_checks_sync = word == 1; });
}

tl::expected<void, std::string> read_mode(const Variables& variables, Settings& settings) {
    return read_word(variables, "CUWARD_MODE", {"check", "enforce"}, "check or enforce")
        .and_then([&](std::size_t word) {
            settings.mode = word == 1 ? Mode::Enforce : Mode::Check;
            return read_word(variables, "CUWARD_ENFORCE", {"likely", "all"}, "likely or all");
        })
        .and_then([&](std::size_t word) {
            settings.enforce_all = word == 1;
            return read_word(variables, "CUWARD_ENFORCE_EXACT", {"0", "1"}, "0 or 1");
        })
        .map([&](std::size_t word) { settings.enforce_exact = word == 1; });
}

}  // namespace

std::optional<std::string> environment_variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

tl::expected<Settings, std::string> read_settings(const Variables& variables) {
    Settings settings;
    return read_mode(variables, settings)
        .and_then([&] { return read_memory(variables, settings); })
        .map([&] { return settings; });
}

}  // namespace cuward
