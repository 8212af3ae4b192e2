#include "core/stacks/modules.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

namespace cuward {
namespace {

LinkerCounts counts_in(const dl_phdr_info& info) {
    return {.loaded = info.dlpi_adds, .unloaded = info.dlpi_subs};
}

std::string program_path() {
    std::string path(PATH_MAX, '\0');
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return path;
}

std::string hexadecimal(std::span<const unsigned char> bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

/// The build id among the notes in a segment (elf(5), "Notes"): header, name, description, each
/// padded to the segment's alignment.
std::string build_id_in(const unsigned char* notes, std::size_t size, std::size_t alignment) {
    const auto padded = [alignment](std::size_t bytes) {
        return (bytes + alignment - 1) / alignment * alignment;
    };
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header;
        std::memcpy(&header, notes, sizeof header);
        const std::size_t name_at = sizeof header;
        const std::size_t data_at = padded(name_at + header.n_namesz);
        const std::size_t next_at = padded(data_at + header.n_descsz);
        if (data_at + header.n_descsz > size) {
            break;
        }
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof "GNU" &&
            std::memcmp(notes + name_at, "GNU", sizeof "GNU") == 0) {
            return hexadecimal({notes + data_at, header.n_descsz});
        }
        if (next_at >= size) {
            break;
        }
        notes += next_at;
        size -= next_at;
    }
    return "";
}

Module describe(const dl_phdr_info& info, bool is_program) {
    Module module;
    module.is_program = is_program;
    module.path = is_program ? program_path() : info.dlpi_name;
    module.bias = info.dlpi_addr;
    module.start = ~Address{0};
    for (const ElfW(Phdr) & segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
        const Address start = info.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD) {
            module.start = std::min(module.start, start);
            module.end = std::max(module.end, start + segment.p_memsz);
        } else if (segment.p_type == PT_NOTE && module.build_id.empty()) {
            module.build_id = build_id_in(reinterpret_cast<const unsigned char*>(start),
                                          segment.p_memsz, segment.p_align == 8 ? 8 : 4);
        }
    }
    return module;
}

}  // namespace

LinkerCounts linker_counts() {
    LinkerCounts counts;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
            *static_cast<LinkerCounts*>(result) = counts_in(*info);
            return 1;  // the first module tells
        },
        &counts);
    return counts;
}

ModuleList read_modules() {
    ModuleList list;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
            auto& read = *static_cast<ModuleList*>(result);
            read.counts = counts_in(*info);
            // The first is the program itself (dl_iterate_phdr(3)).
            read.modules.push_back(describe(*info, read.modules.empty()));
            return 0;
        },
        &list);
    std::sort(list.modules.begin(), list.modules.end(),
              [](const Module& a, const Module& b) { return a.start < b.start; });
    return list;
}

bool ModuleMap::update(ModuleList list) {
    const auto age = [](const LinkerCounts& counts) { return counts.loaded + counts.unloaded; };
    if (age(list.counts) <= age(list_.counts)) {
        return false;
    }
    for (Module& module : list.modules) {
        const auto known = ids_.find({module.path, module.bias, module.build_id});
        module.id = known == ids_.end() ? 0 : known->second;
    }
    const bool something_went = list.counts.unloaded != list_.counts.unloaded;
    list_ = std::move(list);
    return something_went;
}

const Module* ModuleMap::find(Address address, bool& is_new) {
    is_new = false;
    const auto after =
        std::upper_bound(list_.modules.begin(), list_.modules.end(), address,
                         [](Address at, const Module& module) { return at < module.start; });
    if (after == list_.modules.begin() || address >= std::prev(after)->end) {
        return nullptr;
    }
    Module& module = *std::prev(after);
    if (module.id == 0) {
        module.id = static_cast<std::uint32_t>(ids_.size() + 1);
        ids_[{module.path, module.bias, module.build_id}] = module.id;
        is_new = true;
    }
    return &module;
}

}  // namespace cuward
