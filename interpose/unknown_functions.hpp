// Functions of a newer driver that the program looks up, and of which the tool knows nothing.
#pragma once

namespace cuward {

/// Notes that the program has got a function by this name of cuGetProcAddress's, if the table of
/// the driver API does not have it; in the log once the tool has started. Never throws.
void looked_up(const char* base) noexcept;

/// To be called when the tool has started: logs what was looked up before.
void log_unknown_functions() noexcept;

}  // namespace cuward
