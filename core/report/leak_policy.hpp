// Which memory without a free is no leak: what frameworks and libraries keep on purpose until the
// process ends.
#pragma once

#include <string>
#include <vector>

namespace cuward::report {

/// The module that keeps a block, given the modules of its allocation stack, innermost first;
/// empty: nobody keeps it, so it is a leak.
std::string keeper_of(const std::vector<std::string>& modules);

}  // namespace cuward::report
