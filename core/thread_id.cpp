#include "core/thread_id.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace cuward {

std::uint32_t this_thread_id() {
    static thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
    return id;
}

}  // namespace cuward
