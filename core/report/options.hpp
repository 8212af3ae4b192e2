// The command line of cuward-report.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "core/report/build_report.hpp"

namespace cuward::report {

enum class Format { Text, Json };
enum class Colour { Auto, Always, Never };

struct DoctorOptions {
    std::string device = "gpu";
    std::string log_dir;
    std::string library;  ///< path of libcuward.so, as the wrapper found it
    std::string simgpu;   ///< folder of the simulated device's libraries
};

struct Options {
    std::vector<std::string> logs;
    ReportOptions report;
    Format format = Format::Text;
    Colour colour = Colour::Auto;
    std::string output;       ///< empty: standard output
    std::string report_json;  ///< a file that gets the JSON form besides
    int error_exitcode = 0;
    std::optional<DoctorOptions> doctor;
    bool check_settings = false;  ///< say whether the library understands the environment
};

/// A command line that asks for nothing to be done but to print `text` and leave with `status`.
struct Refusal {
    int status = 2;
    std::string text;
};

tl::expected<Options, Refusal> parse_options(int argc, const char* const* argv);

}  // namespace cuward::report
