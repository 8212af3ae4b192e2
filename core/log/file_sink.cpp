#include "core/log/file_sink.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <system_error>

namespace cuward {
namespace {

/// Writing past a limit on file sizes (RLIMIT_FSIZE) raises SIGXFSZ, which would end the program:
/// while this lives, the thread does not get it.
class SizeSignalHeld {
  public:
    SizeSignalHeld() {
        sigemptyset(&signal_);
        sigaddset(&signal_, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    }
    ~SizeSignalHeld() {
        if (sigismember(&before_, SIGXFSZ) == 0) {
            const timespec no_time{};
            while (sigtimedwait(&signal_, nullptr, &no_time) == -1 && errno == EINTR) {
            }
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    SizeSignalHeld(const SizeSignalHeld&) = delete;
    SizeSignalHeld& operator=(const SizeSignalHeld&) = delete;

  private:
    sigset_t signal_;
    sigset_t before_;
};

bool has_size_limit() {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

FileSink::FileSink(const std::string& path) {
    file_ =
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file_ < 0) {
        throw std::system_error(errno, std::generic_category());
    }
    has_size_limit_ = has_size_limit();
}

FileSink::~FileSink() {
    abandon();
}

void FileSink::abandon() {
    if (file_ >= 0) {
        close(file_);
        file_ = -1;
    }
}

void FileSink::sink_it_(const spdlog::details::log_msg& message) {
    if (file_ < 0) {
        return;
    }
    std::optional<SizeSignalHeld> held;
    if (has_size_limit_) {
        held.emplace();
    }
    spdlog::memory_buf_t line;
    line.append(message.payload.begin(), message.payload.end());
    line.push_back('\n');
    const char* next = line.data();
    std::size_t left = line.size();
    while (left > 0) {
        const ssize_t written = write(file_, next, left);
        if (written < 0 && errno != EINTR) {
            throw std::system_error(errno, std::generic_category());
        }
        const auto advance = static_cast<std::size_t>(written < 0 ? 0 : written);
        next += advance;
        left -= advance;
    }
}

}  // namespace cuward
