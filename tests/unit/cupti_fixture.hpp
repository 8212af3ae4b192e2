// A driver with a few kernels, a set of tracked blocks, and a decoder that knows both.
#pragma once

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "cupti/decode.hpp"
#include "cupti/driver_params.hpp"

namespace cuward::cupti {

/// Blocks given by address, size and kind.
class FakeBlocks : public BlockLookup {
  public:
    struct Block {
        std::uint64_t bytes;
        BlockKind kind;
        bool is_alias = false;
    };

    bool may_be_tracked(Address address) const override { return at(address) != nullptr; }
    std::optional<KnownBlock> find_block(Address address) const override {
        const auto* const found = at(address);
        return found != nullptr ? std::optional(KnownBlock{found->second.kind,
                                                           found->first + found->second.bytes,
                                                           found->second.is_alias})
                                : std::nullopt;
    }

    bool always_synchronizes(Address address) const override {
        return address == synchronizing && address != 0;
    }
    std::optional<ArrayPlace> find_array(Address handle) const override {
        const auto found = arrays.find(handle);
        return found != arrays.end() ? std::optional(found->second) : std::nullopt;
    }

    std::map<Address, Block> blocks;
    std::map<Address, ArrayPlace> arrays;
    Address synchronizing = 0;

  private:
    const std::pair<const Address, Block>* at(Address address) const {
        auto after = blocks.upper_bound(address);
        if (after == blocks.begin()) {
            return nullptr;
        }
        --after;
        return address < after->first + after->second.bytes ? &*after : nullptr;
    }
};

/// Kernels by handle. A CUkernel is known to one of the driver's queries only, a CUfunction to the
/// other.
struct FakeKernel {
    bool is_function = true;
    std::string name;
    std::vector<ParameterLayout> layout;
};

class FakeDriver {
  public:
    static std::map<std::uint64_t, FakeKernel>& kernels() {
        static std::map<std::uint64_t, FakeKernel> all;
        return all;
    }
    static int& questions() {
        static int count = 0;
        return count;
    }

    static DriverQueries queries() {
        DriverQueries driver;
        driver.function_parameter = [](CUfunction handle, std::size_t index, std::size_t* offset,
                                       std::size_t* size) {
            return parameter(reinterpret_cast<std::uint64_t>(handle), true, index, offset, size);
        };
        driver.kernel_parameter = [](CUkernel handle, std::size_t index, std::size_t* offset,
                                     std::size_t* size) {
            return parameter(reinterpret_cast<std::uint64_t>(handle), false, index, offset, size);
        };
        driver.function_name = [](const char** name, CUfunction handle) {
            return find_name(name, reinterpret_cast<std::uint64_t>(handle), true);
        };
        driver.kernel_name = [](const char** name, CUkernel handle) {
            return find_name(name, reinterpret_cast<std::uint64_t>(handle), false);
        };
        return driver;
    }

  private:
    static CUresult parameter(std::uint64_t handle, bool is_function, std::size_t index,
                              std::size_t* offset, std::size_t* size) {
        ++questions();
        const auto found = kernels().find(handle);
        if (found == kernels().end() || found->second.is_function != is_function) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        const auto& layout = found->second.layout;
        if (index >= layout.size()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *offset = layout[index].offset;
        *size = layout[index].size;
        return CUDA_SUCCESS;
    }
    static CUresult find_name(const char** name, std::uint64_t handle, bool is_function) {
        const auto found = kernels().find(handle);
        if (found == kernels().end() || found->second.is_function != is_function) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        *name = found->second.name.c_str();
        return CUDA_SUCCESS;
    }
};

class DecoderTest : public testing::Test {
  protected:
    static constexpr Address kBlock = 0x10000;
    static constexpr std::uint64_t kBlockBytes = 0x10000;
    static constexpr Address kOther = 0x40000;
    /// Pinned memory is read when it is copied from.
    alignas(4096) static inline std::array<std::byte, kBlockBytes> pinned{};
    static inline const Address kPinnedBlock = reinterpret_cast<Address>(pinned.data());
    static constexpr Address kManagedBlock = 0xc0000;
    static constexpr ContextId kContext = 77;

    DecoderTest() {
        FakeDriver::kernels().clear();
        FakeDriver::questions() = 0;
        blocks.blocks = {{kBlock, {kBlockBytes, BlockKind::Device}},
                         {kOther, {kBlockBytes, BlockKind::Async}},
                         {kPinnedBlock, {kBlockBytes, BlockKind::Host}},
                         {kManagedBlock, {kBlockBytes, BlockKind::Managed}}};
    }

    template <typename Params>
    const Call& decode(std::uint32_t function, const Params& params, const char* symbol = nullptr) {
        decoder.decode(
            {.function = function, .params = &params, .context = kContext, .symbol = symbol}, call);
        return call;
    }

    static void* address(Address value) { return reinterpret_cast<void*>(value); }
    static CUstream stream(std::uint64_t value) { return reinterpret_cast<CUstream>(value); }
    static CUevent event(std::uint64_t value) { return reinterpret_cast<CUevent>(value); }
    static CUfunction function(std::uint64_t value) { return reinterpret_cast<CUfunction>(value); }

    FakeBlocks blocks;
    std::vector<std::string> names{""};
    std::vector<std::string> notes;
    KernelCache kernels{FakeDriver::queries(),
                        [this](std::string_view name) {
                            for (std::size_t i = 1; i < names.size(); ++i) {
                                if (names[i] == name) {
                                    return KernelId{static_cast<std::uint32_t>(i)};
                                }
                            }
                            names.emplace_back(name);
                            return KernelId{static_cast<std::uint32_t>(names.size() - 1)};
                        },
                        [this](std::string_view text) { notes.emplace_back(text); }};
    MemoryObjects objects;
    Decoder decoder{blocks, objects, kernels};
    Call call;
};

inline MemoryAccess exact(ByteRange range, Access access) {
    return {.range = range, .access = access};
}
inline MemoryAccess pointer(Address address, Access access, bool direction_known) {
    return {.range = {.lo = address},
            .access = access,
            .direction_known = direction_known,
            .range_exact = false};
}

}  // namespace cuward::cupti

namespace cuward {
inline bool operator==(const MemoryAccess& a, const MemoryAccess& b) {
    return a.range == b.range && a.access == b.access && a.direction_known == b.direction_known &&
           a.range_exact == b.range_exact;
}
inline void PrintTo(const MemoryAccess& access, std::ostream* out) {
    const ByteRange& r = access.range;
    *out << "{lo " << std::hex << r.lo << std::dec << " width " << r.width << " pitch " << r.pitch
         << " rows " << r.rows << " slice_pitch " << r.slice_pitch << " slices " << r.slices
         << " access " << static_cast<int>(access.access) << (access.direction_known ? "" : " ?")
         << (access.range_exact ? "" : " within") << "}";
}
}  // namespace cuward
