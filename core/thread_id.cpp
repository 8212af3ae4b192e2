#include "core/thread_id.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cuward {

std::uint32_t this_thread_id() {
    static thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
    return id;
}

bool is_thread_alive(std::uint32_t id) {
    return syscall(SYS_tgkill, getpid(), id, 0) == 0 || errno != ESRCH;
}

}  // namespace cuward
