// Every sentence that people read about findings, in one place: what happened, and the smallest
// fix.
#pragma once

#include <string>
#include <vector>

#include "core/report/log_model.hpp"
#include "core/report/model.hpp"

namespace cuward::report {

/// Sets message and suggestion of a finding whose other fields are complete.
void describe(Finding& finding);

/// What a log cannot tell, and what the tool noted while it wrote it.
std::vector<std::string> remarks_on(const LogModel& log);

/// Of a module that has been built anew or replaced since the log was written.
std::string changed_module_remark(const std::string& module);

/// "race (RAW, likely)", "leak".
std::string title(const Finding& finding);

/// "kernel scale(float*, int) wrote bytes [0, 4096) of the block on the default stream".
std::string access_line(const Finding& finding, const AccessPlace& access);

/// "the graph's node was added by cudaGraphAddKernelNode".
std::string node_line(const AccessPlace& access);

/// "the block: 4096 bytes of device memory at 0x7f…, allocated by cudaMalloc at 0.120 s on thread
/// 42".
std::string allocation_line(const Finding& finding);
std::string free_line(const Block& block);

/// "held by then: 2 blocks of device memory, 4096 bytes (4.0 KiB), allocated by cudaMalloc".
std::string holder_line(const Holder& holder);
std::string further_holders_line(const BudgetRefusal& refusal);

/// "repaired: cuward made stream 0x7f… wait, 12 of 12 times".
std::string repair_line(const Finding& finding);

std::string held_line(const Held& held);

/// "app (pid 12, rank 3, on host)".
std::string process_name(const Process& process);

/// The counts of a report in one sentence.
std::string verdict_line(const Report& report);

}  // namespace cuward::report
