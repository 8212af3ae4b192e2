// What holds device memory at some moment of a log, by the place of its allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/report/log_model.hpp"

namespace cuward::report {

/// Largest first; of one device, or of all. Host memory is none of them.
std::vector<LoggedHolder> holders_in(const LogModel& log, std::optional<std::uint64_t> device);

}  // namespace cuward::report
