#include "interpose/summary.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace cuward {
namespace {

constexpr std::size_t kMostHeadlines = 10;

std::string counted(std::uint64_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string human_size(std::uint64_t bytes) {
    if (bytes < 1024) {
        return counted(bytes, "byte", "bytes");
    }
    static constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB"};
    double size = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) {
        size /= 1024;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f %s", size, kUnits[unit]);
    return text.data();
}

std::string totals_line(const Totals& totals) {
    return counted(totals.races, "race", "races") + ", " +
           counted(totals.possible_races, "possible race", "possible races") + ", " +
           counted(totals.lifetime_errors, "lifetime error", "lifetime errors") +
           (totals.repaired > 0 ? ", " + std::to_string(totals.repaired) + " repaired" : "") +
           "; " + counted(totals.live_blocks, "block", "blocks") + " (" +
           human_size(totals.live_bytes) + ") still allocated at exit";
}

}  // namespace

std::vector<std::string> summary_lines(const Totals& totals,
                                       const std::vector<std::string>& headlines,
                                       const std::string& log_path) {
    std::vector<std::string> lines{totals_line(totals)};
    for (const std::string& headline : headlines) {
        lines.push_back("  " + headline);
    }
    const std::uint64_t findings = totals.races + totals.lifetime_errors;
    if (!headlines.empty() && findings > headlines.size()) {
        lines.push_back("  and " + std::to_string(findings - headlines.size()) + " more");
    }
    if (!log_path.empty()) {
        lines.push_back("whole report: cuward report " + log_path);
    }
    return lines;
}

void print_summary(Session& session) {
    const Log& log = session.log();
    const auto lines =
        summary_lines(session.tracker().totals(), session.tracker().headlines(kMostHeadlines),
                      log.is_open() ? log.path() : std::string());
    for (const std::string& line : lines) {
        say(line);
    }
}

}  // namespace cuward
