// From what logs say to what a report shows: leaks computed, identifiers resolved, findings sorted
// and counted.
#pragma once

#include <vector>

#include "core/report/log_model.hpp"
#include "core/report/model.hpp"

namespace cuward::report {

struct ReportOptions {
    bool show_possible = false;
    bool pedantic = false;  ///< list what only CUDA's implicit waits keep right
    bool leak_check = true;
    bool all_frames = false;
};

Report build_report(const std::vector<LogModel>& logs, const ReportOptions& options);

}  // namespace cuward::report
