#include "core/log/log.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <set>
#include <system_error>
#include <unordered_map>

#include "core/log/file_sink.hpp"
#include "core/log/held_signal.hpp"
#include "core/log/json_text.hpp"
#include "core/log/own_file.hpp"
#include "core/log/process.hpp"
#include "core/thread_id.hpp"

#ifndef CUWARD_VERSION
#error "CUWARD_VERSION is the version of the project, given by its build"
#endif

namespace cuward {
namespace {

using Time = std::chrono::steady_clock;

std::atomic<const OwnFile*> standard_error{nullptr};  ///< null: not remembered

const char* name_of(BlockKind kind) {
    switch (kind) {
        case BlockKind::Device:
            return "device";
        case BlockKind::Async:
            return "async";
        case BlockKind::Pitched:
            return "pitched";
        case BlockKind::Managed:
            return "managed";
        case BlockKind::Host:
            return "host";
        case BlockKind::Registered:
            return "registered";
        case BlockKind::Array:
            return "array";
        case BlockKind::MipmappedArray:
            return "mipmapped-array";
        case BlockKind::Physical:
            return "physical";
        case BlockKind::PhysicalHost:
            return "physical-host";
        case BlockKind::Ipc:
            return "ipc";
        case BlockKind::Imported:
            return "imported";
        case BlockKind::Global:
            return "global";
        case BlockKind::ManagedGlobal:
            break;
    }
    return "managed-global";
}

const char* name_of(MemoryOperationKind kind) {
    switch (kind) {
        case MemoryOperationKind::Allocate:
            return "alloc";
        case MemoryOperationKind::Free:
            return "free";
        case MemoryOperationKind::Forget:
            break;
    }
    return "forget";
}

const char* name_of(ResourceError error) {
    switch (error) {
        case ResourceError::OutOfBudget:
            return "out-of-budget";
        case ResourceError::Driver:
            return "driver";
        case ResourceError::StreamMisuse:
            return "stream-misuse";
        case ResourceError::UseAfterFree:
            return "use-after-free";
        case ResourceError::OutOfBounds:
            break;
    }
    return "out-of-bounds";
}

template <typename Id>
std::uint32_t number(Id id) {
    return static_cast<std::uint32_t>(id);
}

void append(fmt::memory_buffer& out, const LoggedAccess& access) {
    const auto to = std::back_inserter(out);
    fmt::format_to(to, R"({{"op":"{}","api":"{}","kernel":{},"stream":{})", access.op, access.api,
                   number(access.kernel), access.stream);
    if (access.access != nullptr) {
        fmt::format_to(
            to, R"(,"access":"{}","direction_known":{},"range":[{},{}],"range_exact":{})",
            access.access, access.direction_known, access.lo, access.hi, access.range_exact);
    }
    if (access.kernel != KernelId{}) {
        fmt::format_to(to, R"(,"grid":[{},{},{}],"threads":[{},{},{}])", access.grid[0],
                       access.grid[1], access.grid[2], access.threads[0], access.threads[1],
                       access.threads[2]);
    }
    if (access.node.op != nullptr) {
        fmt::format_to(to, R"(,"node":{{"op":"{}","api":"{}","stack":{}}})", access.node.op,
                       access.node.api, number(access.node.stack));
    }
    fmt::format_to(to, R"(,"stack":{},"thread":{}}})", number(access.stack), access.thread);
}

}  // namespace

void remember_standard_error() {
    static const OwnFile found(STDERR_FILENO);
    standard_error = &found;
}

void say(std::string_view line) {
    const OwnFile* const expected = standard_error;
    if (expected != nullptr && !expected->is_same()) {
        return;
    }
    const std::string text = fmt::format("cuward: {}\n", line);
    // Nobody may be reading, which is no reason for the program to end.
    const HeldSignal held(SIGPIPE);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

struct Log::State {
    explicit State(const std::string& log_path);

    std::int64_t now() const {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(Time::now() - start).count();
    }

    template <typename... Args>
    void write(fmt::format_string<Args...> format, Args&&... args) {
        if (is_open.load(std::memory_order_relaxed)) {
            fmt::memory_buffer line;
            fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
            put(line);
        }
    }
    /// For records of which programs cause thousands a second; `format` is made by FMT_COMPILE.
    template <typename Format, typename... Args>
    void write_often(const Format& format, const Args&... args) {
        if (is_open.load(std::memory_order_relaxed)) {
            fmt::memory_buffer line;
            fmt::format_to(std::back_inserter(line), format, args...);
            put(line);
        }
    }
    void put(const fmt::memory_buffer& line) {
        logger->log(spdlog::level::info, std::string_view(line.data(), line.size()));
    }
    void failed(const std::string& why);

    std::string path;
    std::shared_ptr<FileSink> sink;
    std::unique_ptr<spdlog::logger> logger;
    std::atomic<bool> is_open{false};
    Time::time_point start = Time::now();

    mutable std::mutex kernels_mutex;
    std::unordered_map<std::string, KernelId> kernels;
    std::vector<std::string> kernel_names;

    std::mutex unknown_functions_mutex;
    std::set<std::pair<std::string, bool>> unknown_functions;
};

Log::State::State(const std::string& log_path) : path(log_path) {
    if (path.empty()) {
        return;
    }
    try {
        sink = std::make_shared<FileSink>(path);
        logger = std::make_unique<spdlog::logger>("cuward", sink);
        logger->set_error_handler([this](const std::string& why) { failed(why); });
        is_open = true;
    } catch (const std::system_error& error) {
        say(
            fmt::format("no log: cannot create '{}': {}; name another folder with CUWARD_LOG_DIR "
                        "(or --log-dir)",
                        path, error.code().message()));
    }
}

void Log::State::failed(const std::string& why) {
    if (is_open.exchange(false)) {
        say(fmt::format(
            "the log ends here: cannot write '{}': {}; free space there or name another folder "
            "with CUWARD_LOG_DIR",
            path, why));
    }
}

Log::Log(const std::string& path) : state_(std::make_unique<State>(path)) {}
Log::~Log() = default;

bool Log::is_open() const {
    return state_->is_open;
}
const std::string& Log::path() const {
    return state_->path;
}

void Log::header(const char* mode) {
    std::string arguments;
    for (const std::string& argument : program_arguments()) {
        arguments += (arguments.empty() ? "" : ",") + json_string(argument);
    }
    const std::optional<long> mpi_rank = rank();
    state_->write(
        R"({{"r":"header","schema":1,"tool":"{}","program":{},"args":[{}],"cwd":{},"pid":{},"ppid":{},"host":{},"rank":{},"time":"{}","mode":"{}"}})",
        CUWARD_VERSION, json_string(program_path()), arguments, json_string(working_directory()),
        getpid(), getppid(), json_string(host_name()),
        mpi_rank ? std::to_string(*mpi_rank) : "null", utc_now(), mode);
}

void Log::driver(int version, const char* cupti_path) {
    state_->write(R"({{"r":"driver","version":{},"cupti":{}}})", version,
                  cupti_path != nullptr ? json_string(cupti_path) : "null");
}

void Log::device(int ordinal, std::string_view name, std::uint64_t bytes) {
    state_->write(R"({{"r":"device","ordinal":{},"name":{},"bytes":{}}})", ordinal,
                  json_string(name), bytes);
}

void Log::module(std::uint32_t id, std::string_view path, Address base, std::string_view build_id) {
    state_->write(R"({{"r":"module","id":{},"path":{},"base":"{:#x}","build_id":{}}})", id,
                  json_string(path), base, json_string(build_id));
}

void Log::stack(StackId id, std::span<const std::pair<std::uint32_t, Address>> frames) {
    std::string list;
    for (const auto& [module_id, offset] : frames) {
        list += fmt::format("{}[{},{}]", list.empty() ? "" : ",", module_id, offset);
    }
    state_->write(R"({{"r":"stack","id":{},"frames":[{}]}})", number(id), list);
}

KernelId Log::kernel(std::string_view mangled_name) {
    const std::lock_guard lock(state_->kernels_mutex);
    const auto id = static_cast<KernelId>(state_->kernel_names.size() + 1);
    const auto [entry, is_new] = state_->kernels.try_emplace(std::string(mangled_name), id);
    if (is_new) {
        state_->kernel_names.emplace_back(mangled_name);
        state_->write(R"({{"r":"kernel","id":{},"name":{}}})", number(id),
                      json_string(mangled_name));
    }
    return entry->second;
}

std::string Log::kernel_name(KernelId id) const {
    const std::lock_guard lock(state_->kernels_mutex);
    const std::size_t index = number(id);
    return index >= 1 && index <= state_->kernel_names.size() ? state_->kernel_names[index - 1]
                                                              : "";
}

void Log::stream(std::uint32_t id, StreamRef stream, const char* kind, const CallSite& site) {
    state_->write(
        R"({{"r":"stream","id":{},"handle":"{:#x}","context":"{:#x}","kind":"{}","stack":{},"thread":{}}})",
        id, static_cast<std::uint64_t>(stream.stream), stream.context, kind, number(site.stack),
        site.thread);
}

void Log::alloc(std::uint64_t block, const Allocation& allocation, std::uint32_t stream) {
    const CallSite& site = allocation.site;
    state_->write_often(
        FMT_COMPILE(
            R"({{"r":"alloc","block":{},"ptr":"{:#x}","bytes":{},"kind":"{}","device":{},"api":"{}","stream":{},"stack":{},"thread":{},"t":{}}})"),
        block, allocation.ptr, allocation.bytes, name_of(allocation.kind), allocation.device,
        site.api, stream, number(site.stack), site.thread, state_->now());
}

void Log::free(std::uint64_t block, std::uint32_t stream, const CallSite& site) {
    state_->write_often(
        FMT_COMPILE(
            R"({{"r":"free","block":{},"api":"{}","stream":{},"stack":{},"thread":{},"t":{}}})"),
        block, site.api, stream, number(site.stack), site.thread, state_->now());
}

void Log::memory(const MemoryOperation& operation) {
    const DeviceBlock& block = operation.block;
    const std::string stream =
        operation.stream == kNoStream
            ? "null"
            : fmt::format(R"("{:#x}")", static_cast<std::uint64_t>(operation.stream));
    const char* const result = operation.result ? "ok" : name_of(operation.result.error().error);
    state_->write(
        R"({{"r":"memory","op":"{}","device":{},"ptr":"{:#x}","generation":{},"tag":{},"stream":{},"bytes":{},"outstanding":{},"result":"{}","code":{},"thread":{},"t":{}}})",
        name_of(operation.kind), block.device_ordinal, block.ptr,
        static_cast<std::uint64_t>(block.generation), number(block.tag), stream, block.bytes,
        operation.outstanding, result,
        operation.result ? 0 : operation.result.error().driver_result, this_thread_id(),
        state_->now());
}

void Log::budget(const BudgetRefusal& refusal, int device, bool for_process, const CallSite& site) {
    state_->write(
        R"({{"r":"budget","device":{},"scope":"{}","requested":{},"current":{},"remaining":{},"limit":{},"api":"{}","stack":{},"thread":{},"t":{}}})",
        device, for_process ? "process" : "device", refusal.requested, refusal.current,
        refusal.remaining, refusal.limit, site.api, number(site.stack), site.thread, state_->now());
}

void Log::finding(const LoggedFinding& finding) {
    fmt::memory_buffer accesses;
    for (const LoggedAccess& access : finding.accesses) {
        if (accesses.size() > 0) {
            accesses.push_back(',');
        }
        append(accesses, access);
    }
    const std::string hazard =
        finding.hazard != nullptr ? fmt::format(R"("hazard":"{}",)", finding.hazard) : "";
    const std::string found_by =
        finding.found_by != nullptr ? fmt::format(R"("found_by":"{}",)", finding.found_by) : "";
    state_->write(
        R"({{"r":"finding","id":{},"kind":"{}","verdict":"{}",{}{}"block":{},"ptr":"{:#x}","accesses":[{}],{}"t":{}}})",
        finding.id, finding.kind, finding.verdict, hazard, found_by, finding.block, finding.ptr,
        std::string_view(accesses.data(), accesses.size()),
        finding.repaired > 0 ? fmt::format(R"("repaired":{},)", finding.repaired) : "",
        state_->now());
}

void Log::count(std::uint32_t finding, std::uint64_t count, std::uint64_t repaired) {
    state_->write(R"({{"r":"count","finding":{},"count":{}{}}})", finding, count,
                  repaired > 0 ? fmt::format(R"(,"repaired":{})", repaired) : "");
}

void Log::repairs(std::uint64_t waits) {
    state_->write(R"({{"r":"repairs","waits":{}}})", waits);
}

void Log::note(std::string_view text) {
    state_->write(R"({{"r":"note","text":{},"t":{}}})", json_string(text), state_->now());
}

void Log::unknown_function(std::string_view name, bool called) {
    const std::lock_guard lock(state_->unknown_functions_mutex);
    if (state_->unknown_functions.emplace(name, called).second) {
        state_->write(R"({{"r":"unknown-function","name":{},"called":{},"t":{}}})",
                      json_string(name), called, state_->now());
    }
}

void Log::end() {
    state_->write(R"({{"r":"end","t":{}}})", state_->now());
}

void Log::abandon() {
    state_->is_open = false;
    if (state_->sink) {
        state_->sink->abandon();
    }
}

}  // namespace cuward
