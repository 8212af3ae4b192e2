// The kinds of a function's parameters, read from its mangled name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cuward {

enum class PointerKind : std::uint8_t {
    Value,           ///< anything that is no pointer or reference to an object
    Pointer,         ///< pointer or reference to something that may be written through it
    PointerToConst,  ///< pointer or reference to const
    ObjectHandle,    ///< unsigned long long, which texture and surface objects are
};

struct ParameterType {
    PointerKind kind = PointerKind::Value;
    PointerKind pointee = PointerKind::Value;  ///< what a pointer to pointers leads to
    bool operator==(const ParameterType&) const = default;
};

/// The types of the parameters of a function named after the Itanium C++ ABI, in order; nothing for
/// other names and for names this reader does not understand. It reads types only and makes no
/// text: the C++ runtime's demangler gives up on names of more than a thousand characters, which
/// kernel templates often have.
std::optional<std::vector<ParameterType>> mangled_parameters(std::string_view name);

}  // namespace cuward
