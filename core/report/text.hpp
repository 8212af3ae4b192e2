// Making text from elsewhere fit to read: names, sizes, times and numbers for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuward::report {

/// The C++ name of a mangled one; any other name is returned as it is.
std::string demangle(const std::string& name);

/// Replaces what a terminal would obey (control characters, direction overrides) by \xNN or \u{N}:
/// names in a log come from strangers. Bytes that are not UTF-8 are replaced as well.
std::string escape(std::string_view text);

/// Replaces bytes that are not UTF-8 by '?', so that the rest of a record can still be read.
std::string to_utf8(std::string_view text);

/// The last component of a path.
std::string_view base_name(std::string_view path);

/// "1 race", "2 races": `plural` where it is not the singular and an s.
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural = {});

/// Exact bytes, followed by a rounded figure from 10 KiB up: "4096 bytes", "1048576 bytes (1.0
/// MiB)".
std::string bytes_text(std::uint64_t bytes);

/// Nanoseconds since the log's header as seconds: "1.234 s".
std::string seconds_text(std::uint64_t nanoseconds);

std::string hex(std::uint64_t value);

/// Sums that a hostile log cannot make wrap around.
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
    return a + b < a ? ~std::uint64_t{0} : a + b;
}

}  // namespace cuward::report
