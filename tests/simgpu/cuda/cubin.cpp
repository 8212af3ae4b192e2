#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "image.hpp"

namespace simgpu {
namespace {

// .nv.info is a sequence of attributes: a byte of format, a byte of kind, a 16-bit value or size.
constexpr uint8_t format_sized = 4;
constexpr uint8_t attribute_kparam_info = 0x17;
constexpr uint8_t attribute_kparam_info_v2 = 0x45;

template <class T>
bool load(std::span<const std::byte> from, size_t at, T& value) {
    if (at > from.size() || from.size() - at < sizeof value) {
        return false;
    }
    std::memcpy(&value, from.data() + at, sizeof value);
    return true;
}

class Elf {
  public:
    explicit Elf(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool read() {
        Elf64_Ehdr header;
        if (!load(bytes_, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
            header.e_ident[EI_CLASS] != ELFCLASS64) {
            return false;
        }
        for (unsigned index = 0; index < header.e_shnum; ++index) {
            Elf64_Shdr section;
            if (!load(bytes_, header.e_shoff + size_t{header.e_shentsize} * index, section)) {
                return false;
            }
            sections_.push_back(section);
        }
        names_ = header.e_shstrndx;
        return names_ < sections_.size();
    }

    const std::vector<Elf64_Shdr>& sections() const { return sections_; }

    std::string_view string(size_t table, size_t offset) const {
        const std::span<const std::byte> text = contents(table);
        if (offset >= text.size()) {
            return {};
        }
        const char* begin = reinterpret_cast<const char*>(text.data()) + offset;
        return {begin, strnlen(begin, text.size() - offset)};
    }

    std::string_view name(size_t index) const { return string(names_, sections_[index].sh_name); }

    std::span<const std::byte> contents(size_t index) const {
        if (index >= sections_.size() || sections_[index].sh_type == SHT_NOBITS) {
            return {};
        }
        const Elf64_Shdr& section = sections_[index];
        if (section.sh_offset > bytes_.size() ||
            section.sh_size > bytes_.size() - section.sh_offset) {
            return {};
        }
        return bytes_.subspan(section.sh_offset, section.sh_size);
    }

  private:
    std::span<const std::byte> bytes_;
    std::vector<Elf64_Shdr> sections_;
    size_t names_ = 0;
};

void read_parameters(std::span<const std::byte> info, KernelInfo& kernel) {
    std::vector<std::pair<unsigned, KernelParameter>> found;
    size_t at = 0;
    while (at + 4 <= info.size()) {
        const auto format = std::to_integer<uint8_t>(info[at]);
        const auto attribute = std::to_integer<uint8_t>(info[at + 1]);
        uint16_t size = 0;
        load(info, at + 2, size);
        at += 4;
        if (format != format_sized) {
            continue;
        }
        if (attribute == attribute_kparam_info || attribute == attribute_kparam_info_v2) {
            uint16_t ordinal = 0;
            uint16_t offset = 0;
            uint32_t packed = 0;
            load(info, at + 4, ordinal);
            load(info, at + 6, offset);
            load(info, at + 8, packed);
            // The first form keeps the size above 18 bits of alignment, space and bank.
            const uint32_t bytes =
                attribute == attribute_kparam_info ? packed >> 18 : packed & 0xffff;
            found.push_back({ordinal, {offset, bytes}});
        }
        at += size;
    }
    std::sort(found.begin(), found.end(),
              [](const auto& left, const auto& right) { return left.first < right.first; });
    for (const auto& [ordinal, parameter] : found) {
        kernel.parameters.push_back(parameter);
        kernel.parameter_bytes =
            std::max(kernel.parameter_bytes, parameter.offset + parameter.size);
    }
}

void read_globals(const Elf& elf, Image& image) {
    for (size_t index = 0; index < elf.sections().size(); ++index) {
        const Elf64_Shdr& table = elf.sections()[index];
        if (table.sh_type != SHT_SYMTAB) {
            continue;
        }
        const std::span<const std::byte> symbols = elf.contents(index);
        Elf64_Sym symbol;
        for (size_t at = 0; load(symbols, at, symbol); at += sizeof symbol) {
            if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 ||
                symbol.st_shndx >= elf.sections().size()) {
                continue;
            }
            const std::string_view section = elf.name(symbol.st_shndx);
            if (!section.starts_with(".nv.global") && !section.starts_with(".nv.constant3")) {
                continue;
            }
            GlobalInfo global;
            global.name = elf.string(table.sh_link, symbol.st_name);
            global.size = symbol.st_size;
            const std::span<const std::byte> bytes = elf.contents(symbol.st_shndx);
            if (symbol.st_value <= bytes.size() &&
                symbol.st_size <= bytes.size() - symbol.st_value) {
                const auto* first = bytes.data() + symbol.st_value;
                global.initial.assign(first, first + symbol.st_size);
            }
            image.globals.push_back(std::move(global));
        }
    }
}

}  // namespace

std::optional<Image> read_cubin(std::span<const std::byte> cubin) {
    Elf elf(cubin);
    if (!elf.read()) {
        return std::nullopt;
    }
    Image image;
    image.cubin.assign(cubin.begin(), cubin.end());
    constexpr std::string_view text = ".text.";
    for (size_t index = 0; index < elf.sections().size(); ++index) {
        const std::string_view section = elf.name(index);
        if (!section.starts_with(text)) {
            continue;
        }
        KernelInfo kernel;
        kernel.name = section.substr(text.size());
        kernel.code_bytes = elf.sections()[index].sh_size;
        kernel.registers = static_cast<int>(elf.sections()[index].sh_info >> 24);
        bool entry = false;
        for (size_t other = 0; other < elf.sections().size(); ++other) {
            const std::string_view name = elf.name(other);
            // Only kernels have an information section; device functions do not.
            if (name == ".nv.info." + kernel.name) {
                read_parameters(elf.contents(other), kernel);
                entry = true;
            } else if (name == ".nv.shared." + kernel.name) {
                kernel.static_shared_bytes = elf.sections()[other].sh_size;
            }
        }
        if (entry) {
            image.kernels.push_back(std::move(kernel));
        }
    }
    read_globals(elf, image);
    return image;
}

}  // namespace simgpu
