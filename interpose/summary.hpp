// The last word on standard error when the program ends.
#pragma once

#include <string>
#include <vector>

#include "core/session.hpp"

namespace cuward {

/// Totals first, then the gravest findings, then how to get the whole report: one screen at most.
std::vector<std::string> summary_lines(const Totals& totals,
                                       const std::vector<std::string>& headlines,
                                       const std::string& log_path);

void print_summary(Session& session);

}  // namespace cuward
