// How a kernel uses the memory its parameters point to, as far as its C++ name tells.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace cuward {

/// Where a parameter lies in the parameter buffer, in bytes.
struct ParameterLayout {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    bool operator==(const ParameterLayout&) const = default;
};

enum class Certainty : std::uint8_t { No, Maybe, Yes };

struct KernelParameter {
    ParameterLayout layout;
    /// How the kernel uses the memory a pointer in this parameter leads to; the worst case when it
    /// is not known.
    Access access = Access::ReadWrite;
    bool direction_known = false;
    /// The same of the memory that pointers stored there lead to.
    Access pointee = Access::ReadWrite;
    bool pointee_known = false;
    /// Whether it may be, or as far as its type tells is, a texture or surface object.
    Certainty is_object = Certainty::No;
    bool operator==(const KernelParameter&) const = default;
};

struct KernelParameters {
    std::vector<KernelParameter> parameters;
};

/// Directions from the mangled name: `const T*` is read, `T*` may be read and written, anything
/// else (structs, extern "C" names, names that do not fit the layout) is unknown. Never throws but
/// std::bad_alloc.
KernelParameters parameter_directions(std::string_view mangled_name,
                                      std::span<const ParameterLayout> layout);

}  // namespace cuward
