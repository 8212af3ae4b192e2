#include "core/report/line_reader.hpp"

#include <algorithm>

namespace cuward::report {

namespace {
constexpr std::uint64_t kChunk = 1 << 18;
}

LineReader::LineReader(std::istream& input, std::uint64_t limit) : input_(input), limit_(limit) {}

bool LineReader::refill() {
    const std::uint64_t wanted = std::min(kChunk, limit_ - bytes_read_);
    chunk_.resize(wanted);
    position_ = 0;
    input_.read(chunk_.data(), static_cast<std::streamsize>(wanted));
    const auto got = static_cast<std::size_t>(input_.gcount());
    chunk_.resize(got);
    bytes_read_ += got;
    return got > 0;
}

std::optional<LineReader::Line> LineReader::next() {
    line_.clear();
    Line line;
    bool any = false;
    while (!line.terminated && (position_ < chunk_.size() || refill())) {
        any = true;
        const std::size_t newline = chunk_.find('\n', position_);
        const std::size_t end = std::min(newline, chunk_.size());
        line.too_long = line.too_long || line_.size() + (end - position_) > kLongestLine;
        if (line.too_long) {
            line_.clear();
        } else {
            line_.append(chunk_, position_, end - position_);
        }
        line.terminated = newline != std::string::npos;
        position_ = line.terminated ? end + 1 : end;
    }
    if (!any) {
        return std::nullopt;
    }
    line.text = line_;
    return line;
}

}  // namespace cuward::report
