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

/// Finds and loads CUPTI, subscribes, and enables the callbacks of the calls that are decoded. To be
/// called once the driver is loaded, at the latest at the return of the first cuInit; `session`
/// must live until the process ends. Never throws. A second call while started does nothing.
StartResult start(Session& session);

/// Unsubscribes; callbacks under way on other threads end undisturbed. Safe at process exit, when
/// the driver may already be gone, and without a start.
void stop();

}  // namespace cuward::cupti
