// A file as a sequence of lines, in bounded memory whatever the file holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace cuward::report {

/// Longer lines are no records: the longest real one, the header, is bounded by the system's limit
/// on the arguments of a program (2 MiB unless raised).
constexpr std::size_t kLongestLine = std::size_t{4} << 20;

class LineReader {
  public:
    struct Line {
        std::string_view text;  ///< valid until the next call; empty if too long
        bool terminated = false;
        bool too_long = false;
    };

    /// Reads at most `limit` bytes: a second pass over a log that is still growing must see what
    /// the first one saw.
    explicit LineReader(std::istream& input,
                        std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());

    std::optional<Line> next();

    /// Bytes taken from the input so far.
    std::uint64_t bytes_read() const { return bytes_read_; }

  private:
    bool refill();

    std::istream& input_;
    std::uint64_t limit_;
    std::uint64_t bytes_read_ = 0;
    std::string chunk_;
    std::size_t position_ = 0;
    std::string line_;
};

}  // namespace cuward::report
