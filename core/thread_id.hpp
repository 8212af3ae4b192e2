// The kernel's ids of threads, as debuggers and logs show them.
#pragma once

#include <cstdint>

namespace cuward {

std::uint32_t this_thread_id();

/// Whether a thread of this process has that id.
bool is_thread_alive(std::uint32_t id);

}  // namespace cuward
