// Where spdlog puts the log's lines: a file of our own, one write a line, so that nothing is lost
// with the process.
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <mutex>
#include <string>

#include "core/log/own_file.hpp"

namespace cuward {

class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    /// Creates `path` for its owner only; a file or link that is there already is left alone (error
    /// EEXIST). Throws std::system_error.
    explicit FileSink(const std::string& path);
    ~FileSink() override;

    /// Closes the file without a word; later lines go nowhere.
    void abandon();

  protected:
    /// Throws std::system_error when the line cannot be written.
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override {}

  private:
    /// Asks the system whether the file is still ours and may grow; throws std::system_error if
    /// not.
    void look_around();

    OwnFile file_;
    spdlog::log_clock::time_point looked_;
    bool has_size_limit_ = false;
};

}  // namespace cuward
