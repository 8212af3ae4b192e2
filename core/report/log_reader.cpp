#include "core/report/log_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/report/fields.hpp"
#include "core/report/holders.hpp"
#include "core/report/line_reader.hpp"
#include "core/report/text.hpp"

namespace cuward::report {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Records nest a few levels; the parser recurses, so a hostile line could exhaust the stack.
bool nests_too_deeply(std::string_view line) {
    constexpr int kDeepest = 64;
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"') {
            in_string = !in_string;
        } else if (in_string) {
            i += c == '\\' ? 1 : 0;
        } else if (c == '[' || c == '{') {
            if (++depth > kDeepest) {
                return true;
            }
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

// A record, or a discarded value for a line that holds none.
json parse_record(std::string_view line) {
    if (nests_too_deeply(line)) {
        return json(json::value_t::discarded);
    }
    json record = json::parse(line, nullptr, false);
    if (record.is_discarded()) {
        // Paths need not be UTF-8, JSON must be.
        record = json::parse(to_utf8(line), nullptr, false);
    }
    return record.is_object() ? record : json(json::value_t::discarded);
}

std::optional<std::array<std::uint64_t, 3>> triple(const json& value) {
    std::array<std::uint64_t, 3> numbers{};
    if (!value.is_array() || value.size() != numbers.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = as_number(value[i]).value_or(0);
    }
    return numbers;
}

LoggedAccess read_access(const json& value) {
    LoggedAccess access;
    access.op = text_or_empty(value, "op");
    access.api = text_or_empty(value, "api");
    access.kernel = number_or_zero(value, "kernel");
    access.stream = number_or_zero(value, "stream");
    access.access = text_or_empty(value, "access");
    access.direction_known = flag_or(value, "direction_known", true);
    const json& range = field(value, "range");
    if (range.is_array() && range.size() == 2 && as_number(range[0]) && as_number(range[1])) {
        access.range = {*as_number(range[0]), *as_number(range[1])};
        // An empty range is how the log says that none is known.
        if (access.range->first >= access.range->second) {
            access.range.reset();
        }
    }
    access.range_exact = flag_or(value, "range_exact", false);
    access.grid = triple(field(value, "grid"));
    access.threads = triple(field(value, "threads"));
    if (const json& node = field(value, "node"); node.is_object()) {
        access.node = {text_or_empty(node, "op"), text_or_empty(node, "api"),
                       number_or_zero(node, "stack")};
    }
    access.stack = number_or_zero(value, "stack");
    access.thread = number_or_zero(value, "thread");
    return access;
}

class Reader {
  public:
    Reader(LogModel& model, const std::unordered_set<std::uint64_t>& named_blocks)
        : model_(model), named_blocks_(named_blocks) {}

    /// False if the record lacks what makes it usable.
    bool take(const json& record) {
        using Handler = bool (Reader::*)(const json&);
        static const std::unordered_map<std::string_view, Handler> kHandlers{
            {"header", &Reader::take_header},
            {"driver", &Reader::take_driver},
            {"device", &Reader::take_device},
            {"module", &Reader::take_module},
            {"stack", &Reader::take_stack},
            {"kernel", &Reader::take_kernel},
            {"stream", &Reader::take_stream},
            {"alloc", &Reader::take_alloc},
            {"free", &Reader::take_free},
            {"finding", &Reader::take_finding},
            {"count", &Reader::take_count},
            {"note", &Reader::take_note},
            {"budget", &Reader::take_budget},
            {"repairs", &Reader::take_repairs},
            {"unknown-function", &Reader::take_unknown_function},
            {"end", &Reader::take_end}};
        const json& name = field(record, "r");
        if (!name.is_string()) {
            return false;
        }
        const auto handler = kHandlers.find(name.get_ref<const std::string&>());
        return handler == kHandlers.end() || (this->*handler->second)(record);
    }

    std::optional<std::uint64_t> refused_schema() const { return refused_schema_; }

  private:
    bool take_header(const json& record) {
        const auto schema = number(record, "schema");
        if (!schema) {
            return false;
        }
        if (*schema > kLogSchema) {
            refused_schema_ = schema;
            return true;
        }
        LoggedProcess& process = model_.process;
        process.tool = text_or_empty(record, "tool");
        process.program = text_or_empty(record, "program");
        process.args.clear();
        for (const json& argument : field(record, "args")) {
            if (argument.is_string()) {
                process.args.push_back(argument.get<std::string>());
            }
        }
        process.cwd = text_or_empty(record, "cwd");
        process.pid = number_or_zero(record, "pid");
        process.ppid = number_or_zero(record, "ppid");
        process.host = text_or_empty(record, "host");
        process.rank = number(record, "rank");
        process.time = text_or_empty(record, "time");
        process.mode = text_or_empty(record, "mode");
        model_.health.has_header = true;
        return true;
    }

    bool take_driver(const json& record) {
        model_.process.driver_version = number_or_zero(record, "version");
        model_.process.cupti = text_or_empty(record, "cupti");
        model_.process.driver_seen = true;
        return true;
    }

    bool take_device(const json& record) {
        model_.devices.push_back({number_or_zero(record, "ordinal"), text_or_empty(record, "name"),
                                  number_or_zero(record, "bytes")});
        return true;
    }

    bool take_module(const json& record) {
        const std::uint64_t id = number_or_zero(record, "id");
        if (id != 0) {
            model_.modules[id] = {text_or_empty(record, "path"), text_or_empty(record, "build_id")};
        }
        return id != 0;
    }

    bool take_stack(const json& record) {
        const std::uint64_t id = number_or_zero(record, "id");
        const json& frames = field(record, "frames");
        if (id == 0 || !frames.is_array()) {
            return false;
        }
        LoggedStack stack;
        stack.reserve(frames.size());
        for (const json& frame : frames) {
            if (!frame.is_array() || frame.size() != 2 || !as_number(frame[0]) ||
                !as_number(frame[1])) {
                return false;
            }
            stack.push_back({*as_number(frame[0]), *as_number(frame[1])});
        }
        model_.stacks[id] = std::move(stack);
        return true;
    }

    bool take_kernel(const json& record) {
        const std::uint64_t id = number_or_zero(record, "id");
        if (id != 0) {
            model_.kernels[id] = text_or_empty(record, "name");
        }
        return id != 0;
    }

    bool take_stream(const json& record) {
        const std::uint64_t id = number_or_zero(record, "id");
        if (id != 0) {
            model_.streams[id] = {number_or_zero(record, "handle"), text_or_empty(record, "kind"),
                                  number_or_zero(record, "stack"),
                                  number_or_zero(record, "thread")};
        }
        return id != 0;
    }

    bool take_alloc(const json& record) {
        const std::uint64_t id = number_or_zero(record, "block");
        if (id == 0) {
            return false;
        }
        LoggedBlock block;
        block.ptr = number_or_zero(record, "ptr");
        block.bytes = number_or_zero(record, "bytes");
        block.kind = intern(text_or_empty(record, "kind"));
        block.device = number(record, "device");
        block.allocated = read_call(record);
        model_.blocks[id] = block;
        return true;
    }

    bool take_free(const json& record) {
        const std::uint64_t id = number_or_zero(record, "block");
        const auto block = model_.blocks.find(id);
        if (block == model_.blocks.end()) {
            return id != 0;
        }
        if (named_blocks_.contains(id)) {
            block->second.freed = read_call(record);
        } else {
            model_.blocks.erase(block);
        }
        return true;
    }

    bool take_finding(const json& record) {
        LoggedFinding finding;
        finding.id = number_or_zero(record, "id");
        finding.kind = text_or_empty(record, "kind");
        if (finding.id == 0 || finding.kind.empty()) {
            return false;
        }
        finding.verdict = text_or_empty(record, "verdict");
        finding.hazard = text_or_empty(record, "hazard");
        finding.found_by = text_or_empty(record, "found_by");
        finding.block = number_or_zero(record, "block");
        finding.ptr = number_or_zero(record, "ptr");
        finding.repaired = number_or_zero(record, "repaired");
        finding.time = number_or_zero(record, "t");
        const json& accesses = field(record, "accesses");
        if (accesses.is_array()) {
            std::transform(accesses.begin(), accesses.end(), std::back_inserter(finding.accesses),
                           read_access);
        }
        const auto [at, is_new] = finding_at_.try_emplace(finding.id, model_.findings.size());
        if (is_new) {
            model_.findings.push_back(std::move(finding));
            return true;
        }
        // It has become surer: the last record counts.
        LoggedFinding& known = model_.findings[at->second];
        finding.count = known.count;
        finding.repaired = std::max(finding.repaired, known.repaired);
        known = std::move(finding);
        return true;
    }

    bool take_count(const json& record) {
        const auto count = number(record, "count");
        const auto finding = finding_at_.find(number_or_zero(record, "finding"));
        if (!count || finding == finding_at_.end()) {
            return false;
        }
        LoggedFinding& known = model_.findings[finding->second];
        known.count = std::max(known.count, *count);
        known.repaired = std::max(known.repaired, number_or_zero(record, "repaired"));
        return true;
    }

    bool take_repairs(const json& record) {
        model_.process.waits = number(record, "waits");
        return model_.process.waits.has_value();
    }

    bool take_budget(const json& record) {
        const auto limit = number(record, "limit");
        if (!limit) {
            return false;
        }
        LoggedRefusal refusal;
        refusal.api = text_or_empty(record, "api");
        refusal.stack = number_or_zero(record, "stack");
        refusal.device = number_or_zero(record, "device");
        const auto same_place = [&](const LoggedRefusal& known) {
            return known.stack == refusal.stack && known.device == refusal.device &&
                   known.api == refusal.api;
        };
        const auto known = std::find_if(model_.refusals.begin(), model_.refusals.end(), same_place);
        if (known != model_.refusals.end()) {
            ++known->count;
            return true;
        }
        refusal.thread = number_or_zero(record, "thread");
        refusal.time = number_or_zero(record, "t");
        refusal.for_process = text_or_empty(record, "scope") == "process";
        refusal.requested = number_or_zero(record, "requested");
        refusal.current = number_or_zero(record, "current");
        refusal.remaining = number_or_zero(record, "remaining");
        refusal.limit = *limit;
        refusal.holders =
            holders_in(model_, refusal.for_process ? std::nullopt : std::optional(refusal.device));
        model_.refusals.push_back(std::move(refusal));
        return true;
    }

    bool take_note(const json& record) {
        std::string text = text_or_empty(record, "text");
        const bool usable = !text.empty();
        if (usable) {
            model_.notes.push_back(std::move(text));
        }
        return usable;
    }

    bool take_unknown_function(const json& record) {
        const json& called = field(record, "called");
        LoggedUnknownFunction function{.name = text_or_empty(record, "name"),
                                       .called = called.is_boolean() && called.get<bool>()};
        const bool usable = !function.name.empty();
        if (usable) {
            model_.unknown_functions.push_back(std::move(function));
        }
        return usable;
    }

    bool take_end(const json&) {
        model_.health.ended = true;
        return true;
    }

    LoggedCall read_call(const json& record) {
        return {intern(text_or_empty(record, "api")), number_or_zero(record, "stream"),
                number_or_zero(record, "stack"), number_or_zero(record, "thread"),
                number_or_zero(record, "t")};
    }

    std::string_view intern(std::string name) {
        return *model_.names.insert(std::move(name)).first;
    }

    LogModel& model_;
    const std::unordered_set<std::uint64_t>& named_blocks_;
    std::unordered_map<std::uint64_t, std::size_t> finding_at_;
    std::optional<std::uint64_t> refused_schema_;
};

struct FirstPass {
    std::unordered_set<std::uint64_t> named_blocks;
    std::uint64_t bytes = 0;
};

// A finding comes after the free of the block it names, so the blocks to keep have to be known
// beforehand.
FirstPass scan_findings(std::istream& input) {
    FirstPass pass;
    LineReader lines(input);
    while (const auto line = lines.next()) {
        if (line->text.find("\"finding\"") == std::string_view::npos) {
            continue;
        }
        const json record = parse_record(line->text);
        if (const std::uint64_t block = number_or_zero(record, "block"); block != 0) {
            pass.named_blocks.insert(block);
        }
    }
    pass.bytes = lines.bytes_read();
    return pass;
}

std::string cannot_read(const fs::path& file, std::string_view why) {
    return fmt::format("cannot read {}: {}", escape(file.string()), why);
}

}  // namespace

tl::expected<LogModel, std::string> read_log(const fs::path& file) {
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (!fs::exists(status)) {
        return tl::make_unexpected(cannot_read(file, error ? error.message() : "no such file"));
    }
    // It is read twice, which a pipe or a terminal does not bear.
    if (!fs::is_regular_file(status)) {
        return tl::make_unexpected(cannot_read(file, "not a regular file"));
    }
    std::ifstream input(file, std::ios::binary);
    if (!input) {
        return tl::make_unexpected(cannot_read(file, std::strerror(errno)));
    }
    const FirstPass first = scan_findings(input);
    input.clear();
    input.seekg(0);

    LogModel model;
    model.file = file.string();
    Reader reader(model, first.named_blocks);
    LineReader lines(input, first.bytes);
    while (const auto line = lines.next()) {
        const json record =
            line->too_long ? json(json::value_t::discarded) : parse_record(line->text);
        if (record.is_discarded() && !line->terminated) {
            model.health.cut_mid_line = true;
        } else if (record.is_discarded() || !reader.take(record)) {
            ++model.health.skipped_lines;
        }
        if (const auto schema = reader.refused_schema()) {
            return tl::make_unexpected(fmt::format(
                "{}: written in log schema {}, and this program reads up to {}; use the "
                "cuward that wrote it, or a newer one",
                escape(model.file), *schema, kLogSchema));
        }
    }
    return model;
}

tl::expected<std::vector<fs::path>, std::string> find_logs(
    const std::vector<std::string>& files_or_folders) {
    std::vector<fs::path> logs;
    for (const std::string& name : files_or_folders) {
        std::error_code error;
        if (!fs::is_directory(name, error)) {
            logs.emplace_back(name);
            continue;
        }
        std::vector<fs::path> inside;
        fs::directory_iterator entry(name, error);
        if (error) {
            return tl::make_unexpected(cannot_read(name, error.message()));
        }
        for (; entry != fs::directory_iterator(); entry.increment(error)) {
            const std::string base = entry->path().filename().string();
            if (base.starts_with("cuward.") && base.ends_with(".jsonl")) {
                inside.push_back(entry->path());
            }
        }
        if (inside.empty()) {
            return tl::make_unexpected(fmt::format("no log (cuward.*.jsonl) in {}", escape(name)));
        }
        std::sort(inside.begin(), inside.end());
        logs.insert(logs.end(), inside.begin(), inside.end());
    }
    return logs;
}

}  // namespace cuward::report
