// Runs a program with and without the preload library and keeps what it said.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cuward::test {

struct Outcome {
    int status = -1;
    std::string out;
    std::string err;
    std::vector<std::string> logs;  ///< contents of the logs it left
};

/// A folder of its own, in which the program runs and which is removed afterwards.
class PreloadedProgram {
  public:
    /// `command` is a shell command line without redirections.
    explicit PreloadedProgram(std::string command);
    ~PreloadedProgram();
    PreloadedProgram(const PreloadedProgram&) = delete;
    PreloadedProgram& operator=(const PreloadedProgram&) = delete;

    /// NAME=VALUE for the program alone.
    PreloadedProgram& with(const std::string& assignment);

    Outcome run_bare();
    /// `preload` as LD_PRELOAD takes it; by default the library alone.
    Outcome run_watched(const std::string& preload = library());

    static std::string library();

  private:
    Outcome run(const std::string& preload);

    std::string command_;
    std::string environment_;
    std::filesystem::path folder_;
};

}  // namespace cuward::test
