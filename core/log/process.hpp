// Facts about the watched process for the log's header.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cuward {

std::string program_path();
std::vector<std::string> program_arguments();
std::string working_directory();
std::string host_name();
/// The rank a launcher (Open MPI, MPICH, MVAPICH, Slurm, torchrun) gave this process.
std::optional<long> rank();
/// Now, in UTC, as ISO 8601.
std::string utc_now();

}  // namespace cuward
