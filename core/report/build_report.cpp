#include "core/report/build_report.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "core/report/leaks.hpp"
#include "core/report/resolver.hpp"
#include "core/report/text.hpp"
#include "core/report/wording.hpp"

namespace cuward::report {

namespace {

Kind kind_of(std::string_view name) {
    static const std::map<std::string_view, Kind> kKinds{
        {"race", Kind::Race},
        {"use-after-free", Kind::UseAfterFree},
        {"use-before-alloc", Kind::UseBeforeAlloc},
        {"freed-in-flight", Kind::FreedInFlight},
        {"double-free", Kind::DoubleFree},
        {"invalid-free", Kind::InvalidFree},
        {"out-of-bounds", Kind::OutOfBounds},
        {"relies-on-implicit-sync", Kind::ReliesOnImplicitSync}};
    const auto found = kKinds.find(name);
    return found == kKinds.end() ? Kind::Other : found->second;
}

Verdict verdict_of(std::string_view name) {
    return name == "proven"   ? Verdict::Proven
           : name == "likely" ? Verdict::Likely
                              : Verdict::Possible;
}

// Where a finding is counted; only a leak's count depends on more than its kind and verdict.
std::uint64_t& counter_for(Summary& summary, Kind kind, Verdict verdict) {
    const bool possible = verdict == Verdict::Possible;
    switch (kind) {
        case Kind::Race:
            return possible ? summary.possible_races : summary.races;
        case Kind::Leak:
            return summary.leaks;
        case Kind::ReliesOnImplicitSync:
            return summary.implicit_sync_notes;
        case Kind::OutOfBudget:
            return summary.budget_refusals;
        case Kind::Other:
            return summary.other_findings;
        default:
            return possible ? summary.possible_lifetime_errors : summary.lifetime_errors;
    }
}

bool is_shown(Kind kind, Verdict verdict, const ReportOptions& options) {
    if (kind == Kind::ReliesOnImplicitSync) {
        return options.pedantic;
    }
    return verdict != Verdict::Possible || kind == Kind::Other || options.show_possible;
}

auto seriousness(const Finding& finding) {
    const bool certain_enough = finding.verdict != Verdict::Possible;
    const bool remark = finding.kind == Kind::ReliesOnImplicitSync;
    const bool leak = finding.kind == Kind::Leak;
    return std::tuple(remark, !certain_enough, leak, finding.verdict, finding.kind,
                      ~finding.leaked_bytes, ~finding.count);
}

class Builder {
  public:
    explicit Builder(const ReportOptions& options) : options_(options) {
        report_.leak_check = options.leak_check;
    }

    void add(const LogModel& log) {
        report_.processes.push_back(process_of(log));
        add_waits(log.process);
        const Resolver resolver(log, symbolizer_, options_.all_frames);
        for (const LoggedFinding& logged : log.findings) {
            add_finding(log, resolver, logged);
        }
        for (const LoggedRefusal& refusal : log.refusals) {
            add_refusal(resolver, refusal);
        }
        if (options_.leak_check) {
            for (const LeakGroup& group : leaks_of(log)) {
                add_leak(log, resolver, group);
            }
        }
    }

    Report finish() {
        for (const std::string& module : symbolizer_.changed_modules()) {
            report_.remarks.push_back(changed_module_remark(module));
        }
        std::stable_sort(
            report_.findings.begin(), report_.findings.end(),
            [](const Finding& a, const Finding& b) { return seriousness(a) < seriousness(b); });
        for (auto& [module, held] : held_) {
            report_.held.push_back(std::move(held));
        }
        return std::move(report_);
    }

  private:
    static Process process_of(const LogModel& log) {
        Process process;
        process.log = log.file;
        process.program = log.process.program;
        process.args = log.process.args;
        process.pid = log.process.pid;
        process.host = log.process.host;
        process.rank = log.process.rank;
        process.started = log.process.time;
        process.driver_version = log.process.driver_version;
        for (const LoggedDevice& device : log.devices) {
            process.devices.push_back({device.ordinal, device.name, device.bytes});
        }
        process.ended = log.health.ended;
        process.remarks = remarks_on(log);
        return process;
    }

    void add_finding(const LogModel& log, const Resolver& resolver, const LoggedFinding& logged) {
        Finding finding;
        finding.kind = kind_of(logged.kind);
        finding.verdict = verdict_of(logged.verdict);
        ++counter_for(report_.summary, finding.kind, finding.verdict);
        if (!is_shown(finding.kind, finding.verdict, options_)) {
            return;
        }
        finding.kind_name = logged.kind;
        finding.hazard = logged.hazard;
        finding.found_by = logged.found_by;
        finding.count = logged.count;
        finding.repaired = std::min(logged.repaired, logged.count);
        const bool is_error =
            finding.verdict != Verdict::Possible && finding.kind != Kind::ReliesOnImplicitSync;
        if (is_error && finding.repaired == finding.count) {
            ++report_.summary.repaired;
        }
        finding.ptr = logged.ptr;
        finding.time = logged.time;
        if (const auto block = log.blocks.find(logged.block); block != log.blocks.end()) {
            finding.block = resolver.block(block->second);
        }
        for (const LoggedAccess& access : logged.accesses) {
            finding.accesses.push_back(resolver.access(access));
        }
        keep(std::move(finding));
    }

    /// A process that repairs says at its end how many waits that took.
    void add_waits(const LoggedProcess& process) {
        std::optional<std::uint64_t>& waits = report_.summary.waits;
        if (process.mode == "enforce") {
            waits = waits && process.waits ? std::optional(*waits + *process.waits) : std::nullopt;
        }
    }

    void add_refusal(const Resolver& resolver, const LoggedRefusal& logged) {
        Finding finding;
        finding.kind = Kind::OutOfBudget;
        finding.kind_name = "out-of-budget";
        finding.verdict = Verdict::Proven;
        counter_for(report_.summary, finding.kind, finding.verdict) += logged.count;
        finding.count = logged.count;
        finding.time = logged.time;
        LoggedAccess asked;
        asked.op = "alloc";
        asked.api = logged.api;
        asked.stack = logged.stack;
        asked.thread = logged.thread;
        finding.accesses.push_back(resolver.access(asked));
        finding.refusal = resolver.refusal(logged);
        keep(std::move(finding));
    }

    void add_leak(const LogModel& log, const Resolver& resolver, const LeakGroup& group) {
        Summary& summary = report_.summary;
        if (!group.keeper.empty()) {
            const std::string module(base_name(group.keeper));
            Held& held = held_[module];
            held.module = module;
            held.blocks += group.blocks;
            held.bytes = saturating_add(held.bytes, group.bytes);
            summary.held_blocks += group.blocks;
            summary.held_bytes = saturating_add(summary.held_bytes, group.bytes);
            return;
        }
        summary.leaked_blocks += group.blocks;
        summary.leaked_bytes = saturating_add(summary.leaked_bytes, group.bytes);
        Finding finding;
        finding.kind = Kind::Leak;
        finding.verdict = Verdict::Proven;
        ++counter_for(summary, finding.kind, finding.verdict);
        finding.kind_name = "leak";
        finding.count = group.blocks;
        finding.leaked_bytes = group.bytes;
        finding.block = resolver.block(log.blocks.at(group.first_block));
        finding.ptr = finding.block->ptr;
        finding.time = finding.block->allocated.time;
        finding.live_when_log_ended = !log.health.ended;
        keep(std::move(finding));
    }

    void keep(Finding finding) {
        finding.process = report_.processes.size() - 1;
        describe(finding);
        report_.findings.push_back(std::move(finding));
    }

    const ReportOptions& options_;
    Symbolizer symbolizer_;
    Report report_;
    std::map<std::string, Held> held_;
};

}  // namespace

Report build_report(const std::vector<LogModel>& logs, const ReportOptions& options) {
    Builder builder(options);
    for (const LogModel& log : logs) {
        builder.add(log);
    }
    return builder.finish();
}

}  // namespace cuward::report
