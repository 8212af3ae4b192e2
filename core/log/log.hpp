// The process's log: one JSON line a record, written as things happen (README.md beside this lists
// them).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/operation.hpp"
#include "core/resource/resource_log.hpp"

namespace cuward {

/// Where a node of a graph was captured or added.
struct LoggedNode {
    const char* op = nullptr;  ///< null: none
    const char* api = "";
    StackId stack{};
};

/// One place of a finding, as logged.
struct LoggedAccess {
    const char* op = "";
    const char* api = "";
    KernelId kernel{};
    std::uint32_t stream = 0;
    const char* access = nullptr;  ///< null for alloc and free
    bool direction_known = true;
    bool range_exact = true;
    std::uint64_t lo = 0;  ///< bytes from the block's start
    std::uint64_t hi = 0;
    Dim3 grid{};
    Dim3 threads{};
    StackId stack{};
    LoggedNode node{};
    std::uint32_t thread = 0;
};

struct LoggedFinding {
    std::uint32_t id = 0;
    const char* kind = "";
    const char* verdict = "";
    const char* hazard = nullptr;
    std::uint64_t block = 0;
    Address ptr = 0;
    std::span<const LoggedAccess> accesses;
    std::uint64_t repaired = 0;  ///< how often by now
    const char* found_by = nullptr;
};

/// Thread-safe. A record that cannot be written (disk full, file gone) costs one line on standard
/// error and ends logging; the program goes on.
class Log final : public ResourceLog {
  public:
    /// Creates the file for its owner only, never through a link; an empty path writes nowhere. A
    /// failure is one line on standard error.
    explicit Log(const std::string& path);
    ~Log() override;
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    bool is_open() const;
    const std::string& path() const;

    /// `mode`: check or enforce.
    void header(const char* mode);
    void driver(int version, const char* cupti_path);
    void device(int ordinal, std::string_view name, std::uint64_t bytes);
    void module(std::uint32_t id, std::string_view path, Address base, std::string_view build_id);
    void stack(StackId id, std::span<const std::pair<std::uint32_t, Address>> frames);
    /// Gives a kernel its id; the same name again gives the same id.
    KernelId kernel(std::string_view mangled_name);
    /// The name given to `kernel`.
    std::string kernel_name(KernelId id) const;
    void stream(std::uint32_t id, StreamRef stream, const char* kind, const CallSite& site);
    void alloc(std::uint64_t block, const Allocation& allocation, std::uint32_t stream);
    void free(std::uint64_t block, std::uint32_t stream, const CallSite& site);
    void memory(const MemoryOperation& operation) override;
    void budget(const BudgetRefusal& refusal, int device, bool for_process, const CallSite& site);
    void finding(const LoggedFinding& finding);
    void count(std::uint32_t finding, std::uint64_t count, std::uint64_t repaired);
    /// How many waits the tool has queued.
    void repairs(std::uint64_t waits);
    void note(std::string_view text);
    /// A driver function that the table of the driver API does not have; the same again is not
    /// written. `called`: the program called it, not just looked it up.
    void unknown_function(std::string_view name, bool called);
    void end();
    /// In a forked child: forget the file, write nothing more.
    void abandon();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// One line on standard error, as every message of the tool to a person: "cuward: …". Silent once
/// the program has put another file in the place of the one `remember_standard_error` saw.
void say(std::string_view line);
void remember_standard_error();

}  // namespace cuward
