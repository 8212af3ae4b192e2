#include "interpose/loaded_object.hpp"

#include "interpose/elf_symbols.hpp"

namespace cuward {

LoadedObject::LoadedObject(const dl_phdr_info& info)
    : base_(info.dlpi_addr),
      headers_(info.dlpi_phdr),
      header_count_(info.dlpi_phnum),
      path_(info.dlpi_name != nullptr ? info.dlpi_name : "") {}

bool LoadedObject::contains(const void* address) const {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    for (std::size_t i = 0; i < header_count_; ++i) {
        const std::uintptr_t start = base_ + headers_[i].p_vaddr;
        if (headers_[i].p_type == PT_LOAD && value >= start &&
            value - start < headers_[i].p_memsz) {
            return true;
        }
    }
    return false;
}

std::string_view LoadedObject::name() const {
    const Elf64_Dyn* const section = dynamic_section();
    const char* const soname = section != nullptr ? elf_soname(base_, section) : nullptr;
    if (soname != nullptr) {
        return soname;
    }
    const std::string_view path = path_;
    return path.substr(path.rfind('/') + 1);
}

void* LoadedObject::find(const char* symbol) const {
    const Elf64_Dyn* const section = dynamic_section();
    return section != nullptr ? find_elf_symbol(base_, section, symbol) : nullptr;
}

const Elf64_Dyn* LoadedObject::dynamic_section() const {
    for (std::size_t i = 0; i < header_count_; ++i) {
        if (headers_[i].p_type == PT_DYNAMIC) {
            return reinterpret_cast<const Elf64_Dyn*>(base_ + headers_[i].p_vaddr);
        }
    }
    return nullptr;
}

bool find_object(const void* address, LoadedObject& object) {
    return visit_loaded_objects([&](const LoadedObject& candidate) {
        if (!candidate.contains(address)) {
            return false;
        }
        object = candidate;
        return true;
    });
}

}  // namespace cuward
