// The kernel's id of the calling thread, as debuggers and logs show it.
#pragma once

#include <cstdint>

namespace cuward {

std::uint32_t this_thread_id();

}  // namespace cuward
