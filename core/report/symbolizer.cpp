#include "core/report/symbolizer.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>

#include "core/report/text.hpp"

namespace cuward::report {

namespace {

int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
    return -1;
}

const Dwfl_Callbacks kCallbacks{.find_elf = find_no_elf,
                                .find_debuginfo = dwfl_standard_find_debuginfo,
                                .section_address = dwfl_offline_section_address,
                                .debuginfo_path = nullptr};

struct FreeDeleter {
    void operator()(void* memory) const { std::free(memory); }
};

std::string readable_path(const char* path) {
    return path == nullptr ? std::string()
                           : std::filesystem::path(path).lexically_normal().string();
}

std::string name_of(Dwarf_Die* function) {
    Dwarf_Attribute attribute;
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
        if (const char* mangled =
                dwarf_formstring(dwarf_attr_integrate(function, name, &attribute))) {
            return demangle(mangled);
        }
    }
    const char* plain = dwarf_diename(function);
    return plain == nullptr ? std::string() : plain;
}

// The scopes around an address as the code is nested, innermost first.
std::vector<Dwarf_Die> scopes_at(Dwarf_Die* unit, Dwarf_Addr address) {
    Dwarf_Die* found = nullptr;
    // This list follows the source of inlined functions, so only its first element, the innermost
    // scope, says where in the code we are.
    if (dwarf_getscopes(unit, address, &found) <= 0) {
        return {};
    }
    const std::unique_ptr<Dwarf_Die, FreeDeleter> lexical(found);
    Dwarf_Die innermost = *found;
    Dwarf_Die* nested = nullptr;
    const int count = dwarf_getscopes_die(&innermost, &nested);
    if (count <= 0) {
        return {innermost};
    }
    const std::unique_ptr<Dwarf_Die, FreeDeleter> owner(nested);
    return {nested, nested + count};
}

struct Place {
    std::string file;
    unsigned line = 0;
};

Place place_of_call(Dwarf_Die* unit, Dwarf_Die* inlined) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0;
    Dwarf_Word line = 0;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count) {
        return {};
    }
    return {readable_path(dwarf_filesrc(files, file, nullptr, nullptr)),
            static_cast<unsigned>(line)};
}

Place place_of_code(Dwarf_Die* unit, Dwarf_Addr address) {
    Dwarf_Line* entry = dwarf_getsrc_die(unit, address);
    int line = 0;
    if (entry == nullptr || dwarf_lineno(entry, &line) != 0) {
        return {};
    }
    return {readable_path(dwarf_linesrc(entry, nullptr, nullptr)), static_cast<unsigned>(line)};
}

bool same_build(Dwfl_Module* module, const std::string& expected) {
    if (expected.empty()) {
        return true;
    }
    const unsigned char* bytes = nullptr;
    GElf_Addr address = 0;
    const int length = dwfl_module_build_id(module, &bytes, &address);
    std::string actual;
    for (const unsigned char byte :
         std::span(bytes, length > 0 ? static_cast<std::size_t>(length) : 0)) {
        actual += fmt::format("{:02x}", byte);
    }
    return actual == expected;
}

}  // namespace

/// One ELF file, placed at its own addresses: each has a Dwfl to itself, as they would overlap in
/// one.
class Symbolizer::Module {
  public:
    explicit Module(const std::string& path) : dwfl_(dwfl_begin(&kCallbacks)) {
        dwfl_report_begin(dwfl_);
        module_ = dwfl_report_elf(dwfl_, path.c_str(), path.c_str(), -1, 0, true);
        dwfl_report_end(dwfl_, nullptr, nullptr);
    }
    ~Module() { dwfl_end(dwfl_); }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    bool readable() const { return module_ != nullptr; }
    bool is_build(const std::string& build_id) const { return same_build(module_, build_id); }

    std::vector<Frame> frames_at(Dwarf_Addr address) {
        std::vector<Frame> frames = frames_from_debug_info(address);
        if (frames.empty()) {
            frames.emplace_back();
        }
        if (frames.back().function.empty()) {
            frames.back().function = symbol_at(address);
        }
        return frames;
    }

  private:
    std::vector<Frame> frames_from_debug_info(Dwarf_Addr address) {
        Dwarf_Addr bias = 0;
        Dwarf_Die* unit = unit_at(address, &bias);
        if (unit == nullptr) {
            return {};
        }
        std::vector<Frame> frames;
        Place place = place_of_code(unit, address - bias);
        for (Dwarf_Die& scope : scopes_at(unit, address - bias)) {
            const int tag = dwarf_tag(&scope);
            if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) {
                continue;
            }
            frames.push_back({name_of(&scope), place.file, place.line, {}, 0});
            if (tag == DW_TAG_subprogram) {
                return frames;
            }
            place = place_of_call(unit, &scope);
        }
        frames.push_back({{}, place.file, place.line, {}, 0});
        return frames;
    }

    // Not every compiler writes the table of address ranges that dwfl looks units up in.
    Dwarf_Die* unit_at(Dwarf_Addr address, Dwarf_Addr* bias) {
        Dwarf_Die* unit = dwfl_module_addrdie(module_, address, bias);
        if (unit != nullptr) {
            return unit;
        }
        while ((unit = dwfl_module_nextcu(module_, unit, bias)) != nullptr) {
            if (dwarf_haspc(unit, address - *bias) == 1) {
                return unit;
            }
        }
        return nullptr;
    }

    std::string symbol_at(Dwarf_Addr address) {
        GElf_Off offset = 0;
        GElf_Sym symbol;
        const char* name =
            dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
        // A stripped file has few symbols left; the nearest one before the address may be far away.
        if (name == nullptr || (symbol.st_size != 0 && offset >= symbol.st_size)) {
            return {};
        }
        return demangle(name);
    }

    Dwfl* dwfl_;
    Dwfl_Module* module_ = nullptr;
};

Symbolizer::Symbolizer() {
    ::unsetenv("DEBUGINFOD_URLS");
}

Symbolizer::~Symbolizer() = default;

Symbolizer::Module* Symbolizer::module_for(const std::string& path, const std::string& build_id) {
    const auto [entry, is_new] = modules_.try_emplace(path + '\0' + build_id);
    // The path comes from the log: opening a pipe or a device could block.
    if (std::error_code error; is_new && std::filesystem::is_regular_file(path, error)) {
        auto module = std::make_unique<Module>(path);
        if (module->readable() && module->is_build(build_id)) {
            entry->second = std::move(module);
        } else if (module->readable()) {
            changed_modules_.insert(path);
        }
    }
    return entry->second.get();
}

const std::vector<Frame>& Symbolizer::frames_at(const std::string& module,
                                                const std::string& build_id,
                                                std::uint64_t return_offset) {
    auto [entry, is_new] = known_[module + '\0' + build_id].try_emplace(return_offset);
    std::vector<Frame>& frames = entry->second;
    if (!is_new) {
        return frames;
    }
    Module* symbols = module_for(module, build_id);
    if (symbols != nullptr && return_offset != 0) {
        // The call is the instruction before the one it returns to, which may belong to another
        // line.
        frames = symbols->frames_at(return_offset - 1);
    } else {
        frames.emplace_back();
    }
    for (Frame& frame : frames) {
        frame.module = module;
        frame.offset = return_offset;
    }
    return frames;
}

}  // namespace cuward::report
