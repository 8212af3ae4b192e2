// The report: what renderers show, with every identifier resolved and every sentence written.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuward::report {

struct Frame {
    std::string function;  ///< demangled; empty if unknown
    std::string file;      ///< empty if unknown
    unsigned line = 0;
    std::string module;  ///< path; empty for an address outside every module
    std::uint64_t offset = 0;
    bool operator==(const Frame&) const = default;
};

/// Innermost first.
struct Stack {
    std::vector<Frame> frames;
    /// The runtime function the program called, where it is a hidden frame ("cudaMalloc").
    std::string entry;
};

struct Stream {
    std::uint64_t id = 0;
    std::uint64_t handle = 0;
    std::string kind;
    std::uint64_t thread = 0;
    Stack created;
};

/// The call that began or ended a block.
struct Call {
    std::string api;
    std::optional<Stream> stream;
    std::uint64_t thread = 0;
    std::uint64_t time = 0;
    Stack stack;
};

struct Block {
    std::uint64_t ptr = 0;
    std::uint64_t bytes = 0;
    std::string kind;
    std::optional<std::uint64_t> device;
    Call allocated;
    std::optional<Call> freed;
};

/// Where a node of a graph was captured or added.
struct NodePlace {
    std::string op;
    std::string api;
    Stack stack;
};

struct AccessPlace {
    std::string op;
    std::string api;
    std::string kernel;  ///< demangled; empty if this is none
    std::optional<Stream> stream;
    std::string access;
    bool direction_known = true;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> range;
    bool range_exact = false;
    std::optional<std::array<std::uint64_t, 3>> grid;
    std::optional<std::array<std::uint64_t, 3>> threads;
    std::optional<NodePlace> node;  ///< of a graph's launch: the node that does it
    std::uint64_t thread = 0;
    Stack stack;
};

/// Most serious first.
enum class Kind {
    UseAfterFree,
    OutOfBounds,
    DoubleFree,
    FreedInFlight,
    UseBeforeAlloc,
    InvalidFree,
    Race,
    OutOfBudget,
    Other,  ///< a kind that a later tool knows
    Leak,
    ReliesOnImplicitSync,
};

/// Memory of one place of allocation.
struct Holder {
    std::string api;
    std::string kind;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    Stack stack;
};

/// Why the budget had no room, when that was first so; in bytes.
struct BudgetRefusal {
    std::uint64_t device = 0;
    bool for_process = false;  ///< the budget is for all devices together
    std::uint64_t requested = 0;
    std::uint64_t current = 0;
    std::uint64_t remaining = 0;
    std::uint64_t limit = 0;
    std::vector<Holder> holders;  ///< the largest few
    std::uint64_t further_places = 0;
    std::uint64_t further_bytes = 0;
};

enum class Verdict { Proven, Likely, Possible };

struct Finding {
    Kind kind = Kind::Other;
    std::string kind_name;
    Verdict verdict = Verdict::Possible;
    std::string hazard;
    std::string found_by;  ///< "canary" or "poison" of guarded memory
    std::uint64_t count = 1;
    std::uint64_t repaired = 0;  ///< how many of these the tool has repaired
    std::optional<Block> block;
    std::uint64_t ptr = 0;
    std::vector<AccessPlace> accesses;
    std::uint64_t time = 0;
    std::size_t process = 0;  ///< index into Report::processes

    // Leaks: `count` blocks of this total, `block` being the first of them.
    std::uint64_t leaked_bytes = 0;
    bool live_when_log_ended = false;  ///< the process did not end by itself

    std::optional<BudgetRefusal> refusal;  ///< Kind::OutOfBudget only

    std::string message;
    std::string suggestion;
};

struct Device {
    std::uint64_t ordinal = 0;
    std::string name;
    std::uint64_t bytes = 0;
};

struct Process {
    std::string log;
    std::string program;
    std::vector<std::string> args;
    std::uint64_t pid = 0;
    std::string host;
    std::optional<std::uint64_t> rank;
    std::string started;
    std::uint64_t driver_version = 0;
    std::vector<Device> devices;
    bool ended = false;
    std::vector<std::string> remarks;  ///< what this log cannot say, one sentence each
};

/// Memory that a library keeps on purpose until the process ends.
struct Held {
    std::string module;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
};

struct Summary {
    std::uint64_t races = 0;
    std::uint64_t possible_races = 0;
    std::uint64_t leaks = 0;
    std::uint64_t leaked_blocks = 0;
    std::uint64_t leaked_bytes = 0;
    std::uint64_t lifetime_errors = 0;
    std::uint64_t possible_lifetime_errors = 0;
    std::uint64_t implicit_sync_notes = 0;
    std::uint64_t budget_refusals = 0;  ///< calls; no fault of the program that gets them
    std::uint64_t other_findings = 0;
    std::uint64_t repaired = 0;             ///< races and lifetime errors, each time
    std::optional<std::uint64_t> waits{0};  ///< queued by the tool; none: a log does not say
    std::uint64_t held_blocks = 0;
    std::uint64_t held_bytes = 0;

    bool anything_wrong() const { return races + leaks + lifetime_errors + other_findings > 0; }
};

struct Report {
    std::vector<Process> processes;
    Summary summary;
    std::vector<Finding> findings;  ///< those to show, most serious first
    std::vector<Held> held;
    std::vector<std::string> remarks;  ///< on the report as a whole
    bool leak_check = true;
};

}  // namespace cuward::report
