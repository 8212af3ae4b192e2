#include "core/log/file_sink.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace cuward {

FileSink::FileSink(const std::string& path) {
    file_ =
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file_ < 0) {
        throw std::system_error(errno, std::generic_category());
    }
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
