// Strings of the watched program as JSON: they are data, whatever bytes they hold.
#pragma once

#include <string>
#include <string_view>

namespace cuward {

/// The text as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace cuward
