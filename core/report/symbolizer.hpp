// From an offset in a module to function, file and line, through the module's own symbols and
// DWARF.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/report/model.hpp"

namespace cuward::report {

/// Nothing is downloaded: debuginfod is switched off for this process.
class Symbolizer {
  public:
    Symbolizer();
    ~Symbolizer();
    Symbolizer(const Symbolizer&) = delete;
    Symbolizer& operator=(const Symbolizer&) = delete;

    /// The frames at a return address: inlined functions first, the function that holds the code
    /// last. Never empty; a module that is missing or has another build id than `build_id` (hex,
    /// empty if not known) yields one frame that names it and no more.
    const std::vector<Frame>& frames_at(const std::string& module, const std::string& build_id,
                                        std::uint64_t return_offset);

    /// Modules asked for so far whose files are not those that ran.
    const std::set<std::string>& changed_modules() const { return changed_modules_; }

  private:
    class Module;
    Module* module_for(const std::string& path, const std::string& build_id);

    std::unordered_map<std::string, std::unique_ptr<Module>> modules_;
    std::unordered_map<std::string, std::unordered_map<std::uint64_t, std::vector<Frame>>> known_;
    std::set<std::string> changed_modules_;
};

}  // namespace cuward::report
