// The program and libraries in the process, and which of them an address belongs to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/types.hpp"

namespace cuward {

struct Module {
    std::string path;
    Address bias = 0;  ///< load address minus link address
    std::string build_id;
    Address start = 0;
    Address end = 0;
    bool is_program = false;
    std::uint32_t id = 0;  ///< 0 until it is first referred to
};

/// What the dynamic linker counts: every change of the loaded modules shows here.
struct LinkerCounts {
    std::uint64_t loaded = 0;
    std::uint64_t unloaded = 0;
    bool operator==(const LinkerCounts&) const = default;
};

struct ModuleList {
    LinkerCounts counts;
    std::vector<Module> modules;  ///< by start address
};

// Both take the dynamic linker's lock: callers hold none that a constructor of a library being
// loaded could want.
LinkerCounts linker_counts();
ModuleList read_modules();

/// Not thread-safe.
class ModuleMap {
  public:
    const LinkerCounts& counts() const { return list_.counts; }

    /// Takes a list unless a newer one is there already. The same module at the same place keeps
    /// its id. Returns whether a module may have gone, so that its addresses may now mean another.
    bool update(ModuleList list);

    /// The module at an address, null if there is none; gives it an id if `is_new` says it had
    /// none.
    const Module* find(Address address, bool& is_new);

  private:
    using Identity = std::tuple<std::string, Address, std::string>;

    ModuleList list_;
    std::map<Identity, std::uint32_t> ids_;
};

}  // namespace cuward
