#include "cupti/launches.hpp"

#include <cstddef>
#include <cstring>

namespace cuward::cupti {
namespace {

struct ParameterBuffer {
    const std::byte* data = nullptr;
    std::size_t size = 0;
};

/// The buffer that `extra` describes (cuLaunchKernel: pairs of a key and a value, then
/// CU_LAUNCH_PARAM_END).
ParameterBuffer buffer_of(void** extra) {
    ParameterBuffer buffer;
    for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer.data = static_cast<const std::byte*>(extra[1]);
        } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            buffer.size = *static_cast<const std::size_t*>(extra[1]);
        } else {
            return {};
        }
    }
    return buffer.data != nullptr ? buffer : ParameterBuffer{};
}

/// A pointer says where an access starts, not how far it goes.
void add_pointer(const BlockLookup& blocks, const void* place, const PointerWord& word,
                 Call& call) {
    Address address = 0;
    std::memcpy(&address, place, sizeof address);
    if (blocks.may_be_tracked(address)) {
        call.accesses.push_back({.range = {.lo = address},
                                 .access = word.access,
                                 .direction_known = word.direction_known,
                                 .range_exact = false,
                                 .pointee = word.pointee,
                                 .pointee_known = word.pointee_known});
    }
}

void scan_parameters(const BlockLookup& blocks, const KernelInfo& kernel, void** params,
                     Call& call) {
    for (const PointerWord& word : kernel.words) {
        const auto* parameter = static_cast<const std::byte*>(params[word.parameter]);
        if (parameter != nullptr) {
            add_pointer(blocks, parameter + word.offset, word, call);
        }
    }
}

void scan_buffer(const BlockLookup& blocks, const KernelInfo& kernel, const ParameterBuffer& buffer,
                 Call& call) {
    if (!kernel.layout_known) {
        for (std::size_t at = 0; at + sizeof(Address) <= buffer.size; at += sizeof(Address)) {
            add_pointer(blocks, buffer.data + at, PointerWord{}, call);
        }
        return;
    }
    for (const PointerWord& word : kernel.words) {
        if (word.buffer_offset + sizeof(Address) <= buffer.size) {
            add_pointer(blocks, buffer.data + word.buffer_offset, word, call);
        }
    }
}

void add_object(const Decoder& decoder, const void* place, bool is_known, Call& call) {
    std::uint64_t handle = 0;
    std::memcpy(&handle, place, sizeof handle);
    decoder.objects().for_each(call.stream.context, handle, [&](MemoryAccess access) {
        access.direction_known = access.direction_known && is_known;
        call.accesses.push_back(access);
    });
}

void scan_objects(const Decoder& decoder, const KernelInfo& kernel, void** params,
                  const ParameterBuffer& buffer, Call& call) {
    for (const ObjectWord& word : kernel.objects) {
        if (params != nullptr && params[word.parameter] != nullptr) {
            add_object(decoder, params[word.parameter], word.is_known, call);
        } else if (params == nullptr && word.buffer_offset + sizeof(std::uint64_t) <= buffer.size) {
            add_object(decoder, buffer.data + word.buffer_offset, word.is_known, call);
        }
    }
}

}  // namespace

void add_kernel_accesses(const Decoder& decoder, const LaunchArguments& launch, Call& call) {
    const KernelInfo& kernel =
        decoder.kernels().find(reinterpret_cast<std::uint64_t>(launch.function), launch.symbol);
    call.operation.kernel = kernel.id;
    ParameterBuffer buffer;
    if (launch.params != nullptr) {
        scan_parameters(decoder.blocks(), kernel, launch.params, call);
    } else {
        buffer = buffer_of(launch.extra);
        scan_buffer(decoder.blocks(), kernel, buffer, call);
    }
    if (!decoder.objects().empty()) {
        scan_objects(decoder, kernel, launch.params, buffer, call);
    }
}

}  // namespace cuward::cupti
