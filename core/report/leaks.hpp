// Leaks of one log: blocks that were allocated and never freed, grouped by the place of their
// allocation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/log_model.hpp"

namespace cuward::report {

struct LeakGroup {
    std::uint64_t first_block = 0;  ///< the earliest of the group
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::string keeper;  ///< the library that keeps them on purpose; empty: a leak
};

/// Largest first.
std::vector<LeakGroup> leaks_of(const LogModel& log);

}  // namespace cuward::report
