#include "core/report/options.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <utility>

#include "core/report/text.hpp"

namespace cuward::report {

namespace {

template <typename Value>
using Choices = std::vector<std::pair<std::string, Value>>;

// An option that takes one of a few words.
template <typename Value>
void add_choice(CLI::App& app, const std::string& name, Value& target,
                const Choices<Value>& choices, const std::string& description) {
    std::string words;
    for (const auto& [word, value] : choices) {
        words += (words.empty() ? "" : "|") + word;
    }
    const auto choose = [&target, choices, name, words](const std::string& given) {
        const auto chosen = std::find_if(choices.begin(), choices.end(),
                                         [&](const auto& choice) { return choice.first == given; });
        if (chosen == choices.end()) {
            throw CLI::ValidationError(name, "'" + given + "' is none of " + words);
        }
        target = chosen->second;
    };
    app.add_option_function<std::string>(name, choose, description)->type_name(words);
}

void add_report_options(CLI::App& app, Options& options) {
    app.add_option("LOG_OR_DIR", options.logs, "logs, or folders with logs in them");
    add_choice<Format>(app, "--format", options.format,
                       {{"text", Format::Text}, {"json", Format::Json}}, "text if not given");
    app.add_option("-o,--output", options.output, "write there instead of to standard output")
        ->type_name("FILE");
    app.add_option("--report-json", options.report_json, "write the JSON form there besides")
        ->type_name("FILE");
    app.add_flag("--show-possible", options.report.show_possible,
                 "list findings that may be none, too");
    app.add_flag("--pedantic", options.report.pedantic,
                 "list what only CUDA's undocumented waits keep right");
    add_choice<bool>(app, "--leak-check", options.report.leak_check, {{"yes", true}, {"no", false}},
                     "yes if not given");
    app.add_option("--error-exitcode", options.error_exitcode, "exit status if anything is found")
        ->check(CLI::Range(0, 255).description(""))
        ->type_name("N");
    app.add_flag("--all-frames", options.report.all_frames,
                 "show the frames of CUDA, of cuward and of start-up, too");
    add_choice<Colour>(
        app, "--color", options.colour,
        {{"auto", Colour::Auto}, {"always", Colour::Always}, {"never", Colour::Never}},
        "auto if not given: on a terminal");
    // For scripts/cuward; not for people, so not in the help.
    app.add_flag("--check-settings", options.check_settings)->group("");
}

CLI::App* add_doctor(CLI::App& app, DoctorOptions& doctor) {
    CLI::App* command = app.add_subcommand("doctor", "what works on this machine");
    command->add_option("--device", doctor.device, "gpu (default) or sim")
        ->check(CLI::IsMember({"gpu", "sim"}));
    command->add_option("--log-dir", doctor.log_dir, "the folder that logs will go to");
    command->add_option("--library", doctor.library, "path of libcuward.so");
    command->add_option("--simgpu", doctor.simgpu, "folder of the simulated device");
    return command;
}

Refusal usage_error(std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    return {2, "cuward-report: " + escape(message) + "; see --help"};
}

}  // namespace

tl::expected<Options, Refusal> parse_options(int argc, const char* const* argv) {
    Options options;
    DoctorOptions doctor;
    CLI::App app("Reads the logs of programs that ran under cuward and says what is wrong.",
                 "cuward-report");
    app.set_version_flag("--version", "cuward-report " CUWARD_VERSION);
    add_report_options(app, options);
    const CLI::App* doctor_command = add_doctor(app, doctor);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return tl::make_unexpected(Refusal{0, app.help()});
    } catch (const CLI::CallForVersion& version) {
        return tl::make_unexpected(Refusal{0, version.what()});
    } catch (const CLI::ParseError& error) {
        return tl::make_unexpected(usage_error(error.what()));
    }
    if (doctor_command->parsed()) {
        options.doctor = doctor;
    } else if (options.logs.empty() && !options.check_settings) {
        return tl::make_unexpected(usage_error("name at least one log, or a folder with logs"));
    }
    return options;
}

}  // namespace cuward::report
