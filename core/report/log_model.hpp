// What one log says, as it says it: identifiers unresolved, stacks as addresses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cuward::report {

struct LoggedFrame {
    std::uint64_t module = 0;  ///< 0: offset is an absolute address
    std::uint64_t offset = 0;  ///< return address minus load bias
};

using LoggedStack = std::vector<LoggedFrame>;

struct LoggedModule {
    std::string path;
    std::string build_id;
};

struct LoggedStream {
    std::uint64_t handle = 0;
    std::string kind;
    std::uint64_t stack = 0;
    std::uint64_t thread = 0;
};

struct LoggedDevice {
    std::uint64_t ordinal = 0;
    std::string name;
    std::uint64_t bytes = 0;
};

/// A call that began or ended a block. `api` points into LogModel::names.
struct LoggedCall {
    std::string_view api;
    std::uint64_t stream = 0;
    std::uint64_t stack = 0;
    std::uint64_t thread = 0;
    std::uint64_t time = 0;
};

/// `kind` points into LogModel::names.
struct LoggedBlock {
    std::uint64_t ptr = 0;
    std::uint64_t bytes = 0;
    std::string_view kind;
    std::optional<std::uint64_t> device;
    LoggedCall allocated;
    std::optional<LoggedCall> freed;
};

/// Where a node of a graph was captured or added.
struct LoggedNode {
    std::string op;
    std::string api;
    std::uint64_t stack = 0;
};

struct LoggedAccess {
    std::string op;
    std::string api;
    std::uint64_t kernel = 0;
    std::uint64_t stream = 0;
    std::string access;
    bool direction_known = true;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> range;
    bool range_exact = false;
    std::optional<std::array<std::uint64_t, 3>> grid;
    std::optional<std::array<std::uint64_t, 3>> threads;
    std::optional<LoggedNode> node;
    std::uint64_t stack = 0;
    std::uint64_t thread = 0;
};

struct LoggedFinding {
    std::uint64_t id = 0;
    std::string kind;
    std::string verdict;
    std::string hazard;
    std::string found_by;
    std::uint64_t block = 0;
    std::uint64_t ptr = 0;
    std::vector<LoggedAccess> accesses;
    std::uint64_t time = 0;
    std::uint64_t count = 1;
    std::uint64_t repaired = 0;
};

/// Memory of one place of allocation. `api` and `kind` point into LogModel::names.
struct LoggedHolder {
    std::uint64_t stack = 0;
    std::string_view api;
    std::string_view kind;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
};

/// Allocations of one place that the budget had no room for; the numbers are those of the first.
struct LoggedRefusal {
    std::string api;
    std::uint64_t stack = 0;
    std::uint64_t thread = 0;
    std::uint64_t time = 0;
    std::uint64_t device = 0;
    bool for_process = false;  ///< the budget is for all devices together
    std::uint64_t requested = 0;
    std::uint64_t current = 0;
    std::uint64_t remaining = 0;
    std::uint64_t limit = 0;
    std::uint64_t count = 1;
    std::vector<LoggedHolder> holders;  ///< largest first
};

struct LoggedProcess {
    std::string tool;
    std::string program;
    std::vector<std::string> args;
    std::string cwd;
    std::uint64_t pid = 0;
    std::uint64_t ppid = 0;
    std::string host;
    std::optional<std::uint64_t> rank;
    std::string time;
    std::string mode;
    std::optional<std::uint64_t> waits;  ///< queued by the tool; written at the end
    std::uint64_t driver_version = 0;
    std::string cupti;
    bool driver_seen = false;
};

/// How far a log could be read.
struct LogHealth {
    bool has_header = false;
    bool ended = false;         ///< the process wrote its last record
    bool cut_mid_line = false;  ///< the last line stops in the middle
    std::uint64_t skipped_lines = 0;
};

/// A driver function that the tool knew nothing of.
struct LoggedUnknownFunction {
    std::string name;
    bool called = false;  ///< or only looked up
};

/// Movable only: blocks point into `names`.
struct LogModel {
    LogModel() = default;
    LogModel(LogModel&&) = default;
    LogModel& operator=(LogModel&&) = default;

    std::string file;
    LogHealth health;
    LoggedProcess process;
    std::vector<LoggedDevice> devices;
    std::vector<std::string> notes;
    std::vector<LoggedUnknownFunction> unknown_functions;
    std::unordered_map<std::uint64_t, LoggedModule> modules;
    std::unordered_map<std::uint64_t, LoggedStack> stacks;
    std::unordered_map<std::uint64_t, std::string> kernels;
    std::unordered_map<std::uint64_t, LoggedStream> streams;
    /// Blocks that are live at the end, and those that a finding names.
    std::unordered_map<std::uint64_t, LoggedBlock> blocks;
    std::vector<LoggedFinding> findings;
    std::vector<LoggedRefusal> refusals;
    /// Each API and kind name once: a log has millions of blocks and a handful of names.
    std::unordered_set<std::string> names;
};

}  // namespace cuward::report
