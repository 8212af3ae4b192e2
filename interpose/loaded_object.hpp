// The objects the dynamic loader has mapped.
#pragma once

#include <link.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace cuward {

/// The program or a shared library in memory. Valid while it stays loaded.
class LoadedObject {
  public:
    LoadedObject() = default;
    explicit LoadedObject(const dl_phdr_info& info);

    bool contains(const void* address) const;
    std::uintptr_t base() const { return base_; }
    /// As the loader knows it; empty for the program itself.
    const char* path() const { return path_; }
    /// The name it was linked under, else the last part of its path.
    std::string_view name() const;
    /// What it exports under this name, as find_elf_symbol gives it.
    void* find(const char* symbol) const;

  private:
    const Elf64_Dyn* dynamic_section() const;

    std::uintptr_t base_ = 0;
    const Elf64_Phdr* headers_ = nullptr;
    std::size_t header_count_ = 0;
    const char* path_ = "";
};

/// Calls `visit(LoadedObject)` for each object in load order until it returns true; returns whether
/// it did. Takes the loader's lock, allocates nothing.
template <typename Visit>
bool visit_loaded_objects(Visit&& visit) {
    const auto trampoline = [](dl_phdr_info* info, std::size_t, void* target) {
        return (*static_cast<std::remove_reference_t<Visit>*>(target))(LoadedObject(*info)) ? 1 : 0;
    };
    return dl_iterate_phdr(trampoline, &visit) != 0;
}

/// The object an address lies in; false when it lies in none.
bool find_object(const void* address, LoadedObject& object);

}  // namespace cuward
