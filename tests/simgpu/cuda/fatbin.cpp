#include <elf.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "image.hpp"

namespace simgpu {
namespace {

constexpr uint32_t wrapper_magic = 0x466243b1;
constexpr uint32_t fatbin_magic = 0xba55ed50;
constexpr uint16_t kind_elf = 2;
constexpr uint64_t flag_lz4 = 0x2000;
constexpr uint64_t flag_zstd = 0x8000;

struct Wrapper {
    uint32_t magic;
    uint32_t version;
    const void* data;
    const void* prelinked;
};

struct FatHeader {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t bytes;  // of all entries
};

struct EntryHeader {
    uint16_t kind;
    uint16_t version;
    uint32_t header_bytes;
    uint64_t bytes;  // of the payload, padded
    uint32_t compressed_bytes;
    uint32_t unknown;
    uint16_t minor;
    uint16_t major;
    uint32_t architecture;
    uint32_t name_offset;
    uint32_t name_bytes;
    uint64_t flags;
    uint64_t zero;
    uint64_t decompressed_bytes;
};

template <class T>
T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// One LZ4 block, the form older toolkits compressed with: a token whose nibbles are the counts of
// literals and of match bytes beyond four, each continued by bytes of 255.
bool expand_lz4(std::span<const std::byte> in, std::vector<std::byte>& out, size_t size) {
    out.clear();
    out.reserve(size);
    size_t at = 0;
    const auto more = [&](size_t count) {
        if (count == 15) {
            unsigned part = 255;
            while (part == 255 && at < in.size()) {
                part = std::to_integer<unsigned>(in[at++]);
                count += part;
            }
        }
        return count;
    };
    while (at < in.size() && out.size() < size) {
        const auto token = std::to_integer<unsigned>(in[at++]);
        const size_t literals = more(token >> 4);
        if (literals > in.size() - at) {
            return false;
        }
        out.insert(out.end(), in.begin() + static_cast<ptrdiff_t>(at),
                   in.begin() + static_cast<ptrdiff_t>(at + literals));
        at += literals;
        if (out.size() >= size || in.size() - at < 2) {
            break;
        }
        const size_t distance = load<uint16_t>(&in[at]);
        at += 2;
        size_t length = more(token & 15) + 4;
        if (distance == 0 || distance > out.size()) {
            return false;
        }
        for (; length != 0; --length) {
            out.push_back(out[out.size() - distance]);
        }
    }
    return out.size() == size;
}

bool expand(const EntryHeader& header, const std::byte* payload, std::vector<std::byte>& out) {
    if ((header.flags & (flag_zstd | flag_lz4)) == 0) {
        out.assign(payload, payload + header.bytes);
        return true;
    }
    const size_t in_bytes = header.compressed_bytes != 0 ? header.compressed_bytes : header.bytes;
    if ((header.flags & flag_lz4) != 0) {
        return expand_lz4({payload, in_bytes}, out, header.decompressed_bytes);
    }
    out.resize(header.decompressed_bytes);
    const size_t written = ZSTD_decompress(out.data(), out.size(), payload, in_bytes);
    return ZSTD_isError(written) == 0 && written == out.size();
}

void read_fatbin(const std::byte* at, std::vector<CubinFile>& found) {
    const auto header = load<FatHeader>(at);
    const std::byte* entry = at + header.header_bytes;
    const std::byte* const end = entry + header.bytes;
    while (entry + sizeof(EntryHeader) <= end) {
        const auto file = load<EntryHeader>(entry);
        if (file.header_bytes < sizeof(EntryHeader)) {
            return;
        }
        if (file.kind == kind_elf) {
            CubinFile cubin;
            cubin.architecture = file.architecture;
            if (expand(file, entry + file.header_bytes, cubin.bytes)) {
                found.push_back(std::move(cubin));
            }
        }
        entry += file.header_bytes + file.bytes;
    }
}

size_t elf_bytes(const std::byte* at) {
    const auto header = load<Elf64_Ehdr>(at);
    size_t end = std::max<size_t>(header.e_shoff + size_t{header.e_shentsize} * header.e_shnum,
                                  header.e_phoff + size_t{header.e_phentsize} * header.e_phnum);
    for (unsigned index = 0; index < header.e_shnum; ++index) {
        const auto section =
            load<Elf64_Shdr>(at + header.e_shoff + size_t{header.e_shentsize} * index);
        if (section.sh_type != SHT_NOBITS) {
            end = std::max<size_t>(end, section.sh_offset + section.sh_size);
        }
    }
    return end;
}

}  // namespace

std::vector<CubinFile> cubins_in(const void* code) {
    std::vector<CubinFile> found;
    if (code == nullptr) {
        return found;
    }
    const auto* at = static_cast<const std::byte*>(code);
    if (load<uint32_t>(at) == wrapper_magic) {
        at = static_cast<const std::byte*>(load<Wrapper>(at).data);
    }
    if (load<uint32_t>(at) == fatbin_magic) {
        read_fatbin(at, found);
    } else if (std::memcmp(at, ELFMAG, SELFMAG) == 0) {
        CubinFile cubin;
        cubin.bytes.assign(at, at + elf_bytes(at));
        found.push_back(std::move(cubin));
    }
    return found;
}

std::shared_ptr<const Image> load_image(const void* code) {
    const std::vector<CubinFile> files = cubins_in(code);
    std::shared_ptr<Image> best;
    unsigned best_rank = 0;
    for (const CubinFile& file : files) {
        std::optional<Image> image = read_cubin(file.bytes);
        if (!image) {
            continue;
        }
        // Newest that is not newer than the device, then whatever there is.
        const unsigned rank =
            file.architecture <= 90 ? 1000 + file.architecture : 1000 - file.architecture;
        if (!best || rank > best_rank) {
            best = std::make_shared<Image>(std::move(*image));
            best_rank = rank;
        } else if (rank == best_rank) {
            best->kernels.insert(best->kernels.end(), image->kernels.begin(), image->kernels.end());
            best->globals.insert(best->globals.end(), image->globals.begin(), image->globals.end());
        }
    }
    return best;
}

}  // namespace simgpu
