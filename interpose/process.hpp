// The life of the tool in this process: it starts with the first successful cuInit, and ends at
// exit, in a forked child, or when it cannot go on. Outside that life every hook is a plain call.
#pragma once

#include "core/session.hpp"
#include "interpose/driver_state.hpp"

namespace cuward {

/// What hooks work with.
struct Tool {
    Session session;
    DriverState driver;
};

/// The tool, if it is to watch the call that the program makes on this thread; null when it does
/// not live, or makes the call itself.
Tool* watching();

/// The driver has been initialized: the tool comes to life unless it did so before.
void start_watching() noexcept;

/// Something in the tool has failed: from now on the program runs as if without it.
void give_up(const char* reason) noexcept;

}  // namespace cuward
