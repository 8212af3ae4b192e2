// Watches the program's driver calls through CUPTI's callback interface and tells the session.
#pragma once

#include <string>

namespace cuward {
class Session;
}

namespace cuward::cupti {

struct StartResult {
    bool started = false;
    std::string library;  ///< path of the CUPTI that is used
    std::string reason;   ///< when not started: why not, and how to get it, for a person
};

/// Finds and loads CUPTI, subscribes, and enables the callbacks of the calls that are decoded. To
/// be called once the driver is loaded, at the latest at the return of the first cuInit; `session`
/// must live until the process ends. Never throws. While subscribed a second call changes nothing.
StartResult start(Session& session);

/// Ends the watch for good. Touches neither CUPTI nor the driver, so it is safe at process exit,
/// when both may be gone already, and without a start. Callbacks under way on other threads end
/// undisturbed.
void stop();

/// Stops and unsubscribes, so that the program's own profiler can subscribe. Not at process exit.
void unsubscribe();

}  // namespace cuward::cupti
