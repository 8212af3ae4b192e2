#include "core/report/fields.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace cuward::report {

std::optional<std::uint64_t> parse_hex(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
    }
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
    if (error != std::errc{} || stop != end || text.empty()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::uint64_t> as_number(const nlohmann::json& value) {
    if (value.is_number_unsigned()) {
        return value.get<std::uint64_t>();
    }
    if (value.is_string()) {
        return parse_hex(value.get_ref<const std::string&>());
    }
    return std::nullopt;
}

const nlohmann::json& field(const nlohmann::json& record, const char* key) {
    static const nlohmann::json kNull;
    if (!record.is_object()) {
        return kNull;
    }
    const auto found = record.find(key);
    return found == record.end() ? kNull : *found;
}

std::optional<std::uint64_t> number(const nlohmann::json& record, const char* key) {
    return as_number(field(record, key));
}

std::uint64_t number_or_zero(const nlohmann::json& record, const char* key) {
    return number(record, key).value_or(0);
}

std::string text_or_empty(const nlohmann::json& record, const char* key) {
    const nlohmann::json& value = field(record, key);
    return value.is_string() ? value.get<std::string>() : std::string();
}

bool flag_or(const nlohmann::json& record, const char* key, bool otherwise) {
    const nlohmann::json& value = field(record, key);
    return value.is_boolean() ? value.get<bool>() : otherwise;
}

}  // namespace cuward::report
