// Reading fields of a record without trusting it: a field of the wrong type counts as absent.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace cuward::report {

/// A hexadecimal number with or without 0x; nothing if it is anything else or too large.
std::optional<std::uint64_t> parse_hex(std::string_view text);

/// A JSON number that is a non-negative integer, or a string holding a hexadecimal one.
std::optional<std::uint64_t> as_number(const nlohmann::json& value);

std::optional<std::uint64_t> number(const nlohmann::json& record, const char* key);
std::uint64_t number_or_zero(const nlohmann::json& record, const char* key);
std::string text_or_empty(const nlohmann::json& record, const char* key);
bool flag_or(const nlohmann::json& record, const char* key, bool otherwise);

/// The value of a field, or null where the record has none.
const nlohmann::json& field(const nlohmann::json& record, const char* key);

}  // namespace cuward::report
