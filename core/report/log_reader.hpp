// From a log file (schema: core/log/README.md) to a LogModel.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "core/report/log_model.hpp"

namespace cuward::report {

/// The newest schema this program reads.
constexpr unsigned kLogSchema = 1;

/// Reads a log as far as it goes; memory grows with live blocks, findings and stacks, not with the
/// length. The error is one sentence for a person: the file cannot be read, or its schema is too
/// new.
tl::expected<LogModel, std::string> read_log(const std::filesystem::path& file);

/// The logs that a command line names: files as they are, folders as the logs directly in them,
/// sorted.
tl::expected<std::vector<std::filesystem::path>, std::string> find_logs(
    const std::vector<std::string>& files_or_folders);

}  // namespace cuward::report
