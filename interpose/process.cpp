#include "interpose/process.hpp"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cupti/subscriber.hpp"
#include "interpose/driver_library.hpp"
#include "interpose/environment.hpp"
#include "interpose/summary.hpp"
#include "interpose/unknown_functions.hpp"

namespace cuward {
namespace {

// Constant-initialized and never destroyed, as hooks run before this library's constructors and
// after its destructors. The tool itself is never freed: other threads may be in it at any time.
std::atomic<Tool*> current{nullptr};
std::atomic<bool> decided{false};  // started, or never to be
pthread_mutex_t start_mutex = PTHREAD_MUTEX_INITIALIZER;

class StartLock {
  public:
    StartLock() { pthread_mutex_lock(&start_mutex); }
    ~StartLock() { pthread_mutex_unlock(&start_mutex); }
    StartLock(const StartLock&) = delete;
    StartLock& operator=(const StartLock&) = delete;
};

std::string listed(const std::vector<const char*>& names) {
    std::string text;
    for (const char* name : names) {
        text += (text.empty() ? "" : ", ") + std::string(name);
    }
    return text;
}

/// What cannot be understood counts as not said.
Settings settings_or_default() {
    const auto settings = read_settings(environment_variable);
    if (!settings) {
        say(settings.error() + "; checking only, with memory from the driver as ever");
    }
    return settings.value_or(Settings{});
}

/// Null when the driver is too old to be watched.
std::unique_ptr<Tool> create_tool() {
    LoadedDriver loaded = load_driver_api(driver_library::find);
    DriverState driver;
    std::vector<const char*> missing = driver.load();
    missing.insert(missing.end(), loaded.missing.begin(), loaded.missing.end());
    if (!missing.empty()) {
        say("this CUDA driver is too old to be watched (it lacks " + listed(missing) +
            "); the program runs without cuward");
        return nullptr;
    }
    return std::unique_ptr<Tool>(
        new Tool{.session = Session(loaded.api, choose_log_path(), settings_or_default()),
                 .driver = driver});
}

void log_devices(Tool& tool) {
    for (const DriverState::Device& device : tool.driver.devices()) {
        tool.session.log().device(device.ordinal, device.name, device.bytes);
    }
}

bool start_cupti(Tool& tool) {
    const cupti::StartResult cupti = cupti::start(tool.session);
    tool.session.log().driver(tool.driver.driver_version(),
                              cupti.started ? cupti.library.c_str() : nullptr);
    if (!cupti.started) {
        tool.session.lose_sight();
        say("without CUPTI only leaks are found, not races and uses of freed memory: " +
            cupti.reason);
    }
    return cupti.started;
}

/// What was asked for and cannot be had; the resources know by themselves.
void say_where_there_are_no_pools(const Tool& tool, bool sees_work) {
    if (tool.session.settings().backend != Backend::Async) {
        return;
    }
    const std::string instead = ": cudaMalloc is served by the driver, as with --backend direct";
    if (!sees_work) {
        say("without CUPTI it is not known when memory of a pool may be used anew" + instead);
        return;
    }
    for (int device = 0; device < tool.driver.device_count(); ++device) {
        if (!tool.session.driver().has_memory_pools() || !tool.driver.has_memory_pools(device)) {
            say("device " + std::to_string(device) + " has no memory pools" + instead);
        }
    }
}

// A child of fork has copies of locks that other threads held, and CUDA cannot be used in it: it
// lets go of the tool. The log belongs to the parent, so it is forgotten, not ended. The child's
// thread counts as inside the tool for good, which keeps CUPTI's callbacks out as well.
void become_inert_in_child() {
    Tool* const tool = current.exchange(nullptr);
    if (tool != nullptr) {
        alignas(ToolScope) static std::byte place[sizeof(ToolScope)];
        new (place) ToolScope;
        tool->session.log().abandon();
    }
}

void check_memory_at_exit();

void start() {
    Tool* const tool = create_tool().release();
    if (tool == nullptr) {
        return;
    }
    const bool is_enforcing = tool->session.settings().mode == Mode::Enforce;
    tool->session.log().header(is_enforcing ? "enforce" : "check");
    log_devices(*tool);
    say_where_there_are_no_pools(*tool, start_cupti(*tool));
    if (tool->session.settings().guard && std::atexit(check_memory_at_exit) != 0) {
        say("guarded memory will not be checked at the end");
    }
    if (pthread_atfork(nullptr, nullptr, become_inert_in_child) == 0) {
        current = tool;
    }
}

void tell(const char* event, const char* reason) noexcept {
    try {
        say(std::string(event) + reason);
    } catch (...) {  // out of memory: nothing can be said
    }
}

/// Runs a piece of the tool's life; what it throws ends that life and nothing else.
template <typename Piece>
void run(const char* failure, Piece&& piece) noexcept {
    const ToolScope inside;
    try {
        piece();
    } catch (const std::exception& error) {
        tell(failure, error.what());
    } catch (...) {
        tell(failure, "unknown error");
    }
}

// While the driver still works: its own handlers have been registered before, by cuInit, and run
// later.
void check_memory_at_exit() {
    if (Tool* const tool = watching()) {
        run("guarded memory was not checked at the end: ",
            [tool] { tool->session.check_memory(); });
    }
}

// Late among the destructors of the process, as nothing depends on this library. The driver may be
// gone by now and is not called.
[[gnu::destructor]] void finish() {
    Tool* const tool = current.exchange(nullptr);
    if (tool == nullptr) {
        return;
    }
    run("the log of this program may be incomplete: ", [tool] {
        cupti::stop();
        tool->session.finish();
        if (wants_summary()) {
            print_summary(tool->session);
        }
    });
}

}  // namespace

Tool* watching() {
    return ToolScope::inside() ? nullptr : current.load(std::memory_order_acquire);
}

void start_watching() noexcept {
    if (decided.load(std::memory_order_acquire) || ToolScope::inside()) {
        return;
    }
    const StartLock lock;
    if (!decided.load(std::memory_order_relaxed) && !is_disabled()) {
        remember_standard_error();
        run("cannot watch this program: ", start);
    }
    decided.store(true, std::memory_order_release);
    log_unknown_functions();
}

void give_up(const char* reason) noexcept {
    if (current.exchange(nullptr) != nullptr) {
        tell("stopped watching this program: ", reason);
    }
}

}  // namespace cuward
