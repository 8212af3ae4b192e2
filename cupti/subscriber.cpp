#include "cupti/subscriber.hpp"

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <string>

#include "core/per_thread.hpp"
#include "core/session.hpp"
#include "cupti/call_pool.hpp"
#include "cupti/decode.hpp"
#include "cupti/driver_queries.hpp"
#include "cupti/library.hpp"
#include "cupti/watch.hpp"

namespace cuward::cupti {
namespace {

struct Subscription {
    std::mutex mutex;  ///< start and unsubscribe exclude each other
    Library library;
    CUpti_SubscriberHandle handle = nullptr;
    Session* session = nullptr;
};

/// Never destroyed: threads may still be in callbacks while the process ends.
Subscription& subscription() {
    static auto* const instance = new Subscription;
    return *instance;
}

/// Null while nothing is watched. The watch itself lives for ever: a callback may be using it.
std::atomic<Watch*> active{nullptr};

void give_up(Session& session, const char* what) noexcept {
    if (active.exchange(nullptr) == nullptr) {
        return;
    }
    session.lose_sight();
    try {
        const std::string line = std::string("launches and copies are no longer watched: ") + what;
        session.log().note(line);
        say(line);
    } catch (const std::exception&) {
        // Not even memory for the message is left.
    }
}

void handle_call(Watch& watch, CUpti_CallbackId function, const CUpti_CallbackData& data) {
    CallPool& pool = PerThread<CallPool>::get();
    if (data.callbackSite == CUPTI_API_ENTER) {
        Call& call = pool.enter();
        *data.correlationData = reinterpret_cast<std::uint64_t>(&call);
        watch.enter({.function = function,
                     .params = data.functionParams,
                     .context = reinterpret_cast<ContextId>(data.context),
                     .symbol = data.symbolName},
                    call);
        return;
    }
    Call* const call = pool.leave(reinterpret_cast<const void*>(*data.correlationData));
    if (call != nullptr) {
        watch.leave(*call, *static_cast<const int*>(data.functionReturnValue));
    }
}

/// CUPTI calls this at entry and return of every enabled function, also of those that the tool
/// calls itself.
void CUPTIAPI on_callback(void* session, CUpti_CallbackDomain domain, CUpti_CallbackId function,
                          const void* data) {
    Watch* const watch = active.load(std::memory_order_acquire);
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || watch == nullptr || ToolScope::inside()) {
        return;
    }
    const ToolScope scope;
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    try {
        if (Decoder::knows(function)) {
            handle_call(*watch, function, call);
        } else {
            static_cast<Session*>(session)->log().unknown_function(call.functionName, true);
        }
    } catch (const std::exception& error) {
        // No exception may reach the driver's frames. Only these can come from here; catching all
        // would also swallow the cancellation of the thread.
        give_up(*static_cast<Session*>(session), error.what());
    }
}

std::string subscribe_failure(CUptiResult result, const std::string& path) {
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
        return "another profiler or tool already uses CUPTI in this process (" + path + ")";
    }
    return "CUPTI at " + path + " refused to be used (error " +
           std::to_string(static_cast<int>(result)) + ")";
}

/// Those of a newer driver, up to the last that this CUPTI has a number for.
void enable_unknown_functions(const Library& library, CUpti_SubscriberHandle handle) {
    constexpr std::uint32_t kMost = 4096;  // should a CUPTI accept any number
    for (std::uint32_t function = 1; function < kMost; ++function) {
        const bool accepted = Decoder::knows(function) ||
                              library.enable_callback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API,
                                                      function) == CUPTI_SUCCESS;
        if (!accepted && function >= CUPTI_DRIVER_TRACE_CBID_SIZE) {
            return;
        }
    }
}

void enable_callbacks(const Library& library, CUpti_SubscriberHandle handle) {
    for (const std::uint32_t function : Decoder::functions()) {
        // An older CUPTI refuses functions that it does not know; no program can call them then.
        (void)library.enable_callback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, function);
    }
    enable_unknown_functions(library, handle);
}

StartResult subscribe(Session& session, Subscription& state) {
    const DriverQueries driver = load_driver_queries();
    int version = 0;
    if (driver.driver_version == nullptr || driver.driver_version(&version) != CUDA_SUCCESS) {
        return {.started = false, .library = "", .reason = "the CUDA driver is not loaded"};
    }
    if (state.library.path.empty()) {
        state.library = load_library(search_places(version));
    }
    if (state.library.path.empty()) {
        return {.started = false, .library = "", .reason = state.library.reason};
    }
    const CUptiResult result = state.library.subscribe(&state.handle, on_callback, &session);
    if (result != CUPTI_SUCCESS) {
        state.handle = nullptr;
        return {.started = false,
                .library = state.library.path,
                .reason = subscribe_failure(result, state.library.path)};
    }
    state.session = &session;
    active.store(new Watch(session, driver), std::memory_order_release);
    enable_callbacks(state.library, state.handle);
    return {.started = true, .library = state.library.path, .reason = ""};
}

}  // namespace

StartResult start(Session& session) {
    const ToolScope scope;
    try {
        Subscription& state = subscription();
        const std::lock_guard lock(state.mutex);
        if (state.handle != nullptr) {
            return {.started = true, .library = state.library.path, .reason = ""};
        }
        return subscribe(session, state);
    } catch (const std::exception& error) {
        return {.started = false, .library = "", .reason = error.what()};
    }
}

void stop() {
    active.store(nullptr, std::memory_order_release);
}

void unsubscribe() {
    const ToolScope scope;
    stop();
    Subscription& state = subscription();
    const std::lock_guard lock(state.mutex);
    if (state.handle != nullptr) {
        state.session->lose_sight();
        (void)state.library.unsubscribe(state.handle);
        state.handle = nullptr;
    }
}

}  // namespace cuward::cupti
