#include "interpose/elf_symbols.hpp"

#include "interpose/same_text.hpp"

namespace cuward {
namespace {

/// What a look-up needs of the dynamic section (System V ABI, "Dynamic Section"; the GNU hash table
/// is described in glibc's and binutils' sources only).
struct DynamicSection {
    const Elf64_Sym* symbols = nullptr;
    const char* strings = nullptr;
    const std::uint32_t* gnu_hash = nullptr;
    const std::uint32_t* sysv_hash = nullptr;
    const Elf64_Versym* versions = nullptr;
    const char* soname = nullptr;
};

/// The loader rewrites most addresses in the dynamic section to absolute ones, but not in objects
/// it did not map itself (the vDSO).
template <typename T>
const T* absolute(std::uintptr_t base, Elf64_Addr address) {
    return reinterpret_cast<const T*>(address < base ? base + address : address);
}

DynamicSection read_dynamic(std::uintptr_t base, const Elf64_Dyn* entry) {
    DynamicSection section;
    const Elf64_Dyn* soname = nullptr;
    for (; entry->d_tag != DT_NULL; ++entry) {
        const Elf64_Addr address = entry->d_un.d_ptr;
        switch (entry->d_tag) {
            case DT_SYMTAB:
                section.symbols = absolute<Elf64_Sym>(base, address);
                break;
            case DT_STRTAB:
                section.strings = absolute<char>(base, address);
                break;
            case DT_GNU_HASH:
                section.gnu_hash = absolute<std::uint32_t>(base, address);
                break;
            case DT_HASH:
                section.sysv_hash = absolute<std::uint32_t>(base, address);
                break;
            case DT_VERSYM:
                section.versions = absolute<Elf64_Versym>(base, address);
                break;
            case DT_SONAME:
                soname = entry;
                break;
            default:
                break;
        }
    }
    if (soname != nullptr && section.strings != nullptr) {
        section.soname = section.strings + soname->d_un.d_val;
    }
    return section;
}

/// Keeps the best symbol of a name: one that is the default version beats one that is kept for old
/// programs only (whose version carries the "hidden" bit).
class BestSymbol {
  public:
    BestSymbol(const DynamicSection& section, const char* name) : section_(section), name_(name) {}

    /// True when no better can follow.
    bool offer(std::uint32_t index) {
        constexpr Elf64_Versym kHiddenVersion = 0x8000;
        const Elf64_Sym& symbol = section_.symbols[index];
        const unsigned type = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF || type == STT_TLS || type == STT_GNU_IFUNC ||
            !same_text(section_.strings + symbol.st_name, name_)) {
            return false;
        }
        found_ = &symbol;
        return section_.versions == nullptr || (section_.versions[index] & kHiddenVersion) == 0;
    }
    const Elf64_Sym* found() const { return found_; }

  private:
    const DynamicSection& section_;
    const char* name_;
    const Elf64_Sym* found_ = nullptr;
};

std::uint32_t gnu_hash_of(const char* name) {
    std::uint32_t hash = 5381;
    for (; *name != '\0'; ++name) {
        hash = hash * 33 + static_cast<unsigned char>(*name);
    }
    return hash;
}

/// Header: bucket count, first hashed symbol, words in the Bloom filter, its shift; then the
/// filter, the buckets, and the hashes of the symbols, of which the last in a bucket has its lowest
/// bit set. The filter only saves time and is not consulted.
void search_gnu_hash(const DynamicSection& section, const char* name, BestSymbol& best) {
    const std::uint32_t bucket_count = section.gnu_hash[0];
    const std::uint32_t first_symbol = section.gnu_hash[1];
    const std::uint32_t filter_words = section.gnu_hash[2];
    const auto* buckets =
        section.gnu_hash + 4 + filter_words * (sizeof(Elf64_Addr) / sizeof(std::uint32_t));
    const std::uint32_t* hashes = buckets + bucket_count;
    if (bucket_count == 0) {
        return;
    }
    const std::uint32_t wanted = gnu_hash_of(name);
    const std::uint32_t start = buckets[wanted % bucket_count];
    if (start < first_symbol) {
        return;
    }
    for (std::uint32_t index = start;; ++index) {
        const std::uint32_t hash = hashes[index - first_symbol];
        if (((hash ^ wanted) >> 1) == 0 && best.offer(index)) {
            return;
        }
        if ((hash & 1) != 0) {
            return;
        }
    }
}

/// Header: bucket count, chain length (which is the number of symbols). All symbols are looked at:
/// only the driver and old libraries lack the newer table, and they are searched a few times.
void search_sysv_hash(const DynamicSection& section, BestSymbol& best) {
    const std::uint32_t symbol_count = section.sysv_hash[1];
    for (std::uint32_t index = 1; index < symbol_count; ++index) {
        if (best.offer(index)) {
            return;
        }
    }
}

}  // namespace

void* find_elf_symbol(std::uintptr_t base, const Elf64_Dyn* dynamic, const char* symbol) {
    const DynamicSection section = read_dynamic(base, dynamic);
    if (section.symbols == nullptr || section.strings == nullptr) {
        return nullptr;
    }
    BestSymbol best(section, symbol);
    if (section.gnu_hash != nullptr) {
        search_gnu_hash(section, symbol, best);
    } else if (section.sysv_hash != nullptr) {
        search_sysv_hash(section, best);
    }
    return best.found() == nullptr ? nullptr
                                   : reinterpret_cast<void*>(base + best.found()->st_value);
}

const char* elf_soname(std::uintptr_t base, const Elf64_Dyn* dynamic) {
    return read_dynamic(base, dynamic).soname;
}

}  // namespace cuward
