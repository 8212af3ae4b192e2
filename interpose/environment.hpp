// What the user asked for in the environment.
#pragma once

#include <string>

namespace cuward {

/// CUWARD_DISABLE=1. Asked once; needs no allocation, so that the hooks of the loader can call it.
bool is_disabled();

/// CUWARD_SUMMARY, unless it is 0.
bool wants_summary();

/// Where this process logs: cuward.HOST.PID.jsonl in CUWARD_LOG_DIR or the current directory. A
/// program that was replaced by exec left a log under the same process id: then .1, .2, … follows.
std::string choose_log_path();

}  // namespace cuward
