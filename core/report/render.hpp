// The forms a report is shown in.
#pragma once

#include <ostream>

#include "core/report/model.hpp"

namespace cuward::report {

/// For people, in the manner of ThreadSanitizer; `colour` for a terminal.
void render_text(const Report& report, bool colour, std::ostream& out);

/// For programs: schema 1, documented in core/report/README.md.
void render_json(const Report& report, std::ostream& out);

}  // namespace cuward::report
