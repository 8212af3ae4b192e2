// Symbols of a mapped object, found without dlsym, which is what is hooked here, and without any
// other function of a library: another preloaded library may have taken it over and, to get going,
// be asking dlsym for the real one right now (sanitizers do).
#pragma once

#include <link.h>

#include <cstdint>

namespace cuward {

/// The function or datum an object exports under this name (the default version of it if there are
/// several), or null. An indirect function counts as missing: its resolver must not be run here.
void* find_elf_symbol(std::uintptr_t base, const Elf64_Dyn* dynamic, const char* symbol);

/// The name an object was linked under, or null.
const char* elf_soname(std::uintptr_t base, const Elf64_Dyn* dynamic);

}  // namespace cuward
