// What the user asked of the tool: whether it repairs, and where memory comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace cuward {

/// Check reports what is missing; Enforce also queues it.
enum class Mode : std::uint8_t { Check, Enforce };

/// Where device memory of cuMemAlloc comes from: cuMemAlloc itself, or a stream-ordered pool.
enum class Backend : std::uint8_t { Direct, Async };

struct BudgetLimit {
    std::uint64_t bytes = 0;
    bool for_process = false;  ///< over all devices together; otherwise for each device
};

struct Settings {
    Mode mode = Mode::Check;
    bool enforce_all = false;    ///< repair `possible` races as well
    bool enforce_exact = false;  ///< an event behind each use, so that a wait is for that use alone
    Backend backend = Backend::Direct;
    bool guard = false;  ///< canaries, poison and quarantine around every block
    std::uint64_t quarantine_bytes = std::uint64_t{256} << 20;  ///< of freed guarded blocks kept
    bool guard_front = true;         ///< canaries before blocks too, which moves their start
    bool guard_checks_sync = false;  ///< look for damage at every synchronization of the program
    std::optional<BudgetLimit> budget;
    bool log_memory = false;  ///< a record for every call of the resources
};

/// Gives the value of an environment variable, or none.
using Variables = std::function<std::optional<std::string>(const char* name)>;

/// That of this process.
std::optional<std::string> environment_variable(const char* name);

/// Reads CUWARD_MODE (check, enforce), CUWARD_ENFORCE (likely, all), CUWARD_ENFORCE_EXACT (0, 1),
/// CUWARD_BACKEND (direct, async, guard, or async,guard), CUWARD_GUARD_QUARANTINE (bytes),
/// CUWARD_GUARD_FRONT (1, 0), CUWARD_GUARD_CHECK (free, sync), CUWARD_BUDGET (bytes, then
/// optionally :device or :process) and CUWARD_LOG_MEMORY (0, 1). Bytes may end in K, M, G or T,
/// powers of 1024, also written KiB and so on. The error is one line that names the variable, what
/// it holds and what it may hold.
tl::expected<Settings, std::string> read_settings(const Variables& variables);

}  // namespace cuward
