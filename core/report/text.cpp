#include "core/report/text.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

namespace cuward::report {

namespace {

// The demangler's effort can grow much faster than its input.
constexpr std::size_t kLongestMangledName = 32 << 10;

struct CodePoint {
    char32_t value;
    std::size_t length;
};

// Decodes one UTF-8 sequence, refusing overlong forms, surrogates and values beyond Unicode.
std::optional<CodePoint> decode(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return CodePoint{first, 1};
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) {
        return std::nullopt;
    }
    char32_t value = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) {
            return std::nullopt;
        }
        value = (value << 6) | (byte(i) & 0x3FU);
    }
    constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < kSmallest[length] || surrogate || value > 0x10FFFF) {
        return std::nullopt;
    }
    return CodePoint{value, length};
}

bool obeyed_by_terminals(char32_t c) {
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
    const bool direction =
        c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    return control || direction;
}

}  // namespace

std::string demangle(const std::string& name) {
    if (!name.starts_with("_Z") || name.size() > kLongestMangledName) {
        return name;
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> readable(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && readable ? std::string(readable.get()) : name;
}

std::string escape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto point = decode(text);
        const std::size_t length = point ? point->length : 1;
        if (!point) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
        } else if (!obeyed_by_terminals(point->value)) {
            out += text.substr(0, length);
        } else if (point->value < 0x100) {
            out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(point->value));
        } else {
            out += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(point->value));
        }
        text.remove_prefix(length);
    }
    return out;
}

std::string to_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto point = decode(text);
        const std::size_t length = point ? point->length : 1;
        out += point ? text.substr(0, length) : std::string_view("?");
        text.remove_prefix(length);
    }
    return out;
}

std::string_view base_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural) {
    if (count == 1) {
        return fmt::format("1 {}", singular);
    }
    return plural.empty() ? fmt::format("{} {}s", count, singular)
                          : fmt::format("{} {}", count, plural);
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 10240) {
        return counted(bytes, "byte");
    }
    constexpr std::array<std::string_view, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (amount >= 1024 && unit + 1 < kUnits.size()) {
        amount /= 1024;
        ++unit;
    }
    return fmt::format("{} bytes ({:.1f} {})", bytes, amount, kUnits[unit]);
}

std::string seconds_text(std::uint64_t nanoseconds) {
    return fmt::format("{:.3f} s", static_cast<double>(nanoseconds) * 1e-9);
}

std::string hex(std::uint64_t value) {
    return fmt::format("{:#x}", value);
}

}  // namespace cuward::report
