// Matching modules against tables of shell patterns.
#pragma once

#include <fnmatch.h>

#include <string>

#include "core/report/text.hpp"

namespace cuward::report {

/// A pattern with a slash is matched against the whole path, any other against the file name.
inline bool module_matches(const char* pattern, const std::string& path) {
    const bool whole = std::string_view(pattern).find('/') != std::string_view::npos;
    return ::fnmatch(pattern, whole ? path.c_str() : base_name(path).data(), 0) == 0;
}

}  // namespace cuward::report
