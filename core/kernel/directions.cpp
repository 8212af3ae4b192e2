#include "core/kernel/directions.hpp"

#include <cstddef>
#include <optional>

#include "core/kernel/mangled_parameters.hpp"

namespace cuward {
namespace {

constexpr std::uint32_t kPointerSize = 8;

Access access_through(PointerKind pointer) {
    return pointer == PointerKind::PointerToConst ? Access::Read : Access::ReadWrite;
}

void note_direction(ParameterType type, KernelParameter& parameter) {
    const bool is_object =
        type.kind == PointerKind::ObjectHandle && parameter.is_object != Certainty::No;
    parameter.is_object = is_object ? Certainty::Yes : Certainty::No;
    if (type.kind == PointerKind::Value || type.kind == PointerKind::ObjectHandle ||
        parameter.layout.size != kPointerSize) {
        return;
    }
    parameter.direction_known = true;
    parameter.access = access_through(type.kind);
    parameter.pointee_known = type.pointee != PointerKind::Value;
    parameter.pointee = access_through(type.pointee);
}

}  // namespace

KernelParameters parameter_directions(std::string_view mangled_name,
                                      std::span<const ParameterLayout> layout) {
    KernelParameters result;
    result.parameters.reserve(layout.size());
    for (const ParameterLayout& place : layout) {
        result.parameters.push_back(
            {.layout = place,
             .is_object = place.size == kPointerSize ? Certainty::Maybe : Certainty::No});
    }
    const std::optional<std::vector<ParameterType>> types = mangled_parameters(mangled_name);
    // A name whose parameters do not match the layout describes something else.
    if (!types || types->size() != layout.size()) {
        return result;
    }
    for (std::size_t i = 0; i < types->size(); ++i) {
        note_direction((*types)[i], result.parameters[i]);
    }
    return result;
}

}  // namespace cuward
