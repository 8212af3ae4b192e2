// cuward-report: reads logs, writes a report.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>

#include "core/report/doctor.hpp"
#include "core/report/log_reader.hpp"
#include "core/report/options.hpp"
#include "core/report/render.hpp"
#include "core/report/text.hpp"
#include "core/settings.hpp"

namespace cuward::report {

namespace {

constexpr int kUsage = 2;

int fail(const std::string& message) {
    std::cerr << "cuward-report: " << message << '\n';
    return kUsage;
}

bool use_colour(const Options& options) {
    const char* no_colour = std::getenv("NO_COLOR");
    const bool unwanted = no_colour != nullptr && *no_colour != '\0';
    const bool terminal = options.output.empty() && ::isatty(STDOUT_FILENO) == 1 && !unwanted;
    return options.colour == Colour::Always || (options.colour == Colour::Auto && terminal);
}

// The error is one sentence for a person.
tl::expected<void, std::string> write_to(const std::string& file,
                                         const std::function<void(std::ostream&)>& write) {
    std::ofstream stream;
    if (!file.empty()) {
        stream.open(file, std::ios::binary | std::ios::trunc);
    }
    std::ostream& out = file.empty() ? std::cout : stream;
    if (out) {
        write(out);
        out.flush();
    }
    if (!out) {
        return tl::make_unexpected(fmt::format("cannot write {}: {}",
                                               file.empty() ? "the report" : escape(file),
                                               std::strerror(errno)));
    }
    return {};
}

tl::expected<std::vector<LogModel>, std::string> read_logs(const Options& options) {
    const auto files = find_logs(options.logs);
    if (!files) {
        return tl::make_unexpected(files.error());
    }
    std::vector<LogModel> logs;
    for (const auto& file : *files) {
        auto log = read_log(file);
        if (!log) {
            return tl::make_unexpected(log.error());
        }
        if (!log->health.has_header && log->health.skipped_lines > 0 && log->blocks.empty() &&
            log->findings.empty()) {
            return tl::make_unexpected(file.string() + " is no log of cuward");
        }
        logs.push_back(std::move(*log));
    }
    return logs;
}

int report(const Options& options) {
    const auto logs = read_logs(options);
    if (!logs) {
        return fail(logs.error());
    }
    const Report report = build_report(*logs, options.report);
    const bool colour = use_colour(options);
    const auto json = [&](std::ostream& out) { render_json(report, out); };
    const auto text = [&](std::ostream& out) { render_text(report, colour, out); };

    auto written = options.format == Format::Json ? write_to(options.output, json)
                                                  : write_to(options.output, text);
    if (written && !options.report_json.empty()) {
        written = write_to(options.report_json, json);
    }
    if (!written) {
        return fail(written.error());
    }
    return report.summary.anything_wrong() ? options.error_exitcode : 0;
}

// What the library would say of the CUWARD_* variables, before anything runs.
int check_settings() {
    const auto settings = read_settings(environment_variable);
    return settings ? 0 : fail(settings.error());
}

int run(int argc, const char* const* argv) {
    const auto options = parse_options(argc, argv);
    if (!options) {
        (options.error().status == 0 ? std::cout : std::cerr) << options.error().text << '\n';
        return options.error().status;
    }
    if (options->check_settings) {
        return check_settings();
    }
    return options->doctor ? doctor(*options->doctor, std::cout) : report(*options);
}

}  // namespace

}  // namespace cuward::report

int main(int argc, char** argv) {
    try {
        return cuward::report::run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "cuward-report: " << error.what() << '\n';
        return 2;
    }
}
