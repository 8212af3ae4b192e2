#include "preloaded_program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace cuward::test {
namespace {

std::string contents(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::filesystem::path new_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "cuward-test-XXXXXX").string();
    return mkdtemp(name.data());
}

}  // namespace

PreloadedProgram::PreloadedProgram(std::string command)
    : command_(std::move(command)), folder_(new_folder()) {}

PreloadedProgram::~PreloadedProgram() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

PreloadedProgram& PreloadedProgram::with(const std::string& assignment) {
    environment_ += " '" + assignment + "'";
    return *this;
}

std::string PreloadedProgram::library() {
    return CUWARD_LIBRARY;
}

Outcome PreloadedProgram::run_bare() {
    return run("");
}

Outcome PreloadedProgram::run_watched(const std::string& preload) {
    return run(preload);
}

// env is not preloaded itself, only what it starts. A sanitizer's run time cannot come first when
// the library does.
Outcome PreloadedProgram::run(const std::string& preload) {
    const std::filesystem::path logs = folder_ / "logs";
    std::filesystem::remove_all(logs);
    std::filesystem::create_directory(logs);
    const std::string line =
        "env ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 CUWARD_LOG_DIR='" +
        logs.string() + "' LD_PRELOAD='" + preload + "'" + environment_ + " " + command_ + " >'" +
        (folder_ / "out").string() + "' 2>'" + (folder_ / "err").string() + "'";
    Outcome outcome;
    const int status =
        std::system(line.c_str());  // NOLINT(bugprone-command-processor,cert-env33-c)
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.out = contents(folder_ / "out");
    outcome.err = contents(folder_ / "err");
    for (const auto& entry : std::filesystem::directory_iterator(logs)) {
        outcome.logs.push_back(contents(entry.path()));
    }
    return outcome;
}

}  // namespace cuward::test
