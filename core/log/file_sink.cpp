#include "core/log/file_sink.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>

#include "core/log/held_signal.hpp"

namespace cuward {
namespace {

[[noreturn]] void fail(int error) {
    throw std::system_error(error, std::generic_category());
}

/// Programs take the lowest descriptors for granted, standard output's when they closed it.
int out_of_the_way(int file) {
    constexpr int kUnlikelyWanted = 200;
    const int moved = fcntl(file, F_DUPFD_CLOEXEC, kUnlikelyWanted);
    if (moved < 0) {
        return file;
    }
    close(file);
    return moved;
}

/// A look costs as much as a write, and programs that allocate write many thousand lines a second.
constexpr std::chrono::milliseconds kBetweenLooks{1};

/// Writing past a limit on file sizes raises SIGXFSZ, which would end the program.
bool has_size_limit() {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

FileSink::FileSink(const std::string& path) {
    const int file =
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        fail(errno);
    }
    file_ = OwnFile(out_of_the_way(file));
}

FileSink::~FileSink() {
    abandon();
}

void FileSink::abandon() {
    if (file_.is_same()) {
        close(file_.descriptor());
    }
    file_ = OwnFile();
}

void FileSink::look_around() {
    if (!file_.is_same()) {
        fail(EBADF);
    }
    has_size_limit_ = has_size_limit();
}

void FileSink::sink_it_(const spdlog::details::log_msg& message) {
    if (!file_.is_known()) {
        return;
    }
    if (message.time - looked_ > kBetweenLooks) {
        look_around();
        looked_ = message.time;
    }
    std::optional<HeldSignal> held;
    if (has_size_limit_) {
        held.emplace(SIGXFSZ);
    }
    spdlog::memory_buf_t line;
    line.append(message.payload.begin(), message.payload.end());
    line.push_back('\n');
    const char* next = line.data();
    std::size_t left = line.size();
    while (left > 0) {
        const ssize_t written = write(file_.descriptor(), next, left);
        if (written < 0 && errno != EINTR) {
            fail(errno);
        }
        const auto advance = static_cast<std::size_t>(written < 0 ? 0 : written);
        next += advance;
        left -= advance;
    }
}

}  // namespace cuward
