// What works on this machine, what does not, and what to do about it.
#pragma once

#include <ostream>

#include "core/report/options.hpp"

namespace cuward::report {

/// Prints one line a check; returns 0 if all is well, else 1.
int doctor(const DoctorOptions& options, std::ostream& out);

}  // namespace cuward::report
