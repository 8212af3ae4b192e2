#include "core/log/held_signal.hpp"

#include <cerrno>
#include <ctime>

namespace cuward {

HeldSignal::HeldSignal(int signal) : signal_(signal) {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, signal_) == 1;
    sigemptyset(&set_);
    sigaddset(&set_, signal_);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
}

HeldSignal::~HeldSignal() {
    const int error = errno;
    if (!was_pending_) {
        const timespec no_time{};
        while (sigtimedwait(&set_, nullptr, &no_time) == -1 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
}

}  // namespace cuward
