#include "core/log/json_text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace cuward {
namespace {

/// Length of the well-formed UTF-8 sequence at the start of `text`; 0: none (Unicode 15, table
/// 3-7).
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80) {
        return 1;
    }
    const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                               : lead >= 0xe0 && lead <= 0xef ? 3
                               : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                              : 0;
    if (length == 0 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool is_overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
    const bool is_surrogate = lead == 0xed && byte(1) >= 0xa0;
    const bool is_too_large = lead == 0xf4 && byte(1) >= 0x90;
    return is_overlong || is_surrogate || is_too_large ? 0 : length;
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        const char first = text.front();
        if (length == 0) {
            out += "\\ufffd";
        } else if (first == '"' || first == '\\') {
            out += '\\';
            out += first;
        } else if (static_cast<std::uint8_t>(first) < 0x20 || first == 0x7f) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(first));
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out += '"';
    return out;
}

}  // namespace cuward
