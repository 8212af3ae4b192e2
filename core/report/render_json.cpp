#include <nlohmann/json.hpp>

#include "core/report/render.hpp"
#include "core/report/text.hpp"
#include "core/report/wording.hpp"

namespace cuward::report {

namespace {

// Keys in the order they are written, so that the output reads well too.
using json = nlohmann::ordered_json;

constexpr int kReportSchema = 1;

json or_null(const std::string& text) {
    return text.empty() ? json() : json(text);
}

template <typename T>
json or_null(const std::optional<T>& value) {
    return value ? json(*value) : json();
}

json stack_json(const Stack& stack) {
    json frames = json::array();
    for (const Frame& frame : stack.frames) {
        frames.push_back({{"function", or_null(frame.function)},
                          {"file", or_null(frame.file)},
                          {"line", frame.line == 0 ? json() : json(frame.line)},
                          {"module", or_null(frame.module)},
                          {"offset", hex(frame.offset)}});
    }
    return frames;
}

json stream_json(const std::optional<Stream>& stream) {
    if (!stream) {
        return nullptr;
    }
    return {{"id", stream->id},
            {"handle", hex(stream->handle)},
            {"kind", stream->kind},
            {"thread", stream->thread},
            {"created", stack_json(stream->created)}};
}

json call_json(const Call& call) {
    return {{"api", call.api},
            {"entry", or_null(call.stack.entry)},
            {"stream", stream_json(call.stream)},
            {"thread", call.thread},
            {"t", call.time},
            {"stack", stack_json(call.stack)}};
}

json block_json(const std::optional<Block>& block) {
    if (!block) {
        return nullptr;
    }
    return {{"ptr", hex(block->ptr)},
            {"bytes", block->bytes},
            {"kind", block->kind},
            {"device", or_null(block->device)},
            {"allocated", call_json(block->allocated)},
            {"freed", block->freed ? call_json(*block->freed) : json()}};
}

json node_json(const std::optional<NodePlace>& node) {
    if (!node) {
        return nullptr;
    }
    return {{"op", node->op},
            {"api", node->api},
            {"entry", or_null(node->stack.entry)},
            {"stack", stack_json(node->stack)}};
}

json access_json(const AccessPlace& access) {
    return {
        {"op", access.op},
        {"api", access.api},
        {"entry", or_null(access.stack.entry)},
        {"kernel", or_null(access.kernel)},
        {"stream", stream_json(access.stream)},
        {"access", or_null(access.access)},
        {"direction_known", access.direction_known},
        {"range", access.range ? json::array({access.range->first, access.range->second}) : json()},
        {"range_exact", access.range_exact},
        {"grid", or_null(access.grid)},
        {"threads", or_null(access.threads)},
        {"node", node_json(access.node)},
        {"thread", access.thread},
        {"stack", stack_json(access.stack)}};
}

json process_json(const Process& process) {
    json devices = json::array();
    for (const Device& device : process.devices) {
        devices.push_back(
            {{"ordinal", device.ordinal}, {"name", device.name}, {"bytes", device.bytes}});
    }
    return {{"program", process.program},
            {"args", process.args},
            {"pid", process.pid},
            {"host", process.host},
            {"rank", or_null(process.rank)},
            {"started", process.started},
            {"driver_version", process.driver_version},
            {"devices", devices},
            {"log", process.log},
            {"complete", process.ended},
            {"remarks", process.remarks}};
}

std::string verdict_name(Verdict verdict) {
    return verdict == Verdict::Proven   ? "proven"
           : verdict == Verdict::Likely ? "likely"
                                        : "possible";
}

json refusal_json(const BudgetRefusal& refusal) {
    json holders = json::array();
    for (const Holder& holder : refusal.holders) {
        holders.push_back({{"blocks", holder.blocks},
                           {"bytes", holder.bytes},
                           {"kind", holder.kind},
                           {"api", holder.api},
                           {"entry", or_null(holder.stack.entry)},
                           {"stack", stack_json(holder.stack)}});
    }
    return {{"device", refusal.device},
            {"scope", refusal.for_process ? "process" : "device"},
            {"requested", refusal.requested},
            {"current", refusal.current},
            {"remaining", refusal.remaining},
            {"limit", refusal.limit},
            {"holders", holders},
            {"further_places", refusal.further_places},
            {"further_bytes", refusal.further_bytes}};
}

json finding_json(const Finding& finding, const Process& process) {
    json out = {{"kind", finding.kind_name}, {"verdict", verdict_name(finding.verdict)}};
    if (!finding.hazard.empty()) {
        out["hazard"] = finding.hazard;
    }
    out["count"] = finding.count;
    out["repaired"] = finding.repaired;
    if (finding.kind == Kind::Leak) {
        out["leaked_bytes"] = finding.leaked_bytes;
        out["live_when_log_ended"] = finding.live_when_log_ended;
    }
    if (finding.refusal) {
        out["budget"] = refusal_json(*finding.refusal);
    }
    if (!finding.found_by.empty()) {
        out["found_by"] = finding.found_by;
        if (finding.block) {
            out["offset"] = static_cast<std::int64_t>(finding.ptr - finding.block->ptr);
        }
    }
    out["ptr"] = hex(finding.ptr);
    out["t"] = finding.time;
    out["process"] = {{"program", process.program},
                      {"pid", process.pid},
                      {"host", process.host},
                      {"rank", or_null(process.rank)}};
    out["block"] = block_json(finding.block);
    out["accesses"] = json::array();
    for (const AccessPlace& access : finding.accesses) {
        out["accesses"].push_back(access_json(access));
    }
    out["message"] = finding.message;
    out["suggestion"] = finding.suggestion;
    return out;
}

json summary_json(const Summary& summary) {
    return {{"races", summary.races},
            {"possible_races", summary.possible_races},
            {"leaks", summary.leaks},
            {"leaked_blocks", summary.leaked_blocks},
            {"leaked_bytes", summary.leaked_bytes},
            {"lifetime_errors", summary.lifetime_errors},
            {"possible_lifetime_errors", summary.possible_lifetime_errors},
            {"implicit_sync_notes", summary.implicit_sync_notes},
            {"budget_refusals", summary.budget_refusals},
            {"other_findings", summary.other_findings},
            {"repaired", summary.repaired},
            {"waits", or_null(summary.waits)},
            {"held_blocks", summary.held_blocks},
            {"held_bytes", summary.held_bytes}};
}

}  // namespace

void render_json(const Report& report, std::ostream& out) {
    json document = {
        {"schema", kReportSchema},
        {"program", report.processes.empty() ? json() : json(report.processes.front().program)},
        {"summary", summary_json(report.summary)}};
    document["leak_check"] = report.leak_check;
    document["remarks"] = report.remarks;
    document["processes"] = json::array();
    for (const Process& process : report.processes) {
        document["processes"].push_back(process_json(process));
    }
    document["findings"] = json::array();
    for (const Finding& finding : report.findings) {
        document["findings"].push_back(finding_json(finding, report.processes[finding.process]));
    }
    document["held"] = json::array();
    for (const Held& held : report.held) {
        document["held"].push_back(
            {{"module", held.module}, {"blocks", held.blocks}, {"bytes", held.bytes}});
    }
    // Names in debug information need not be UTF-8.
    out << document.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

}  // namespace cuward::report
