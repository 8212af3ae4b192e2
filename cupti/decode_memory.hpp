// The decoders of the functions that make memory known without allocating it: texture and surface
// objects, levels of mipmapped arrays, variables of modules, other addresses and attributes.
#pragma once

#include <cuda.h>

#include "cupti/call.hpp"
#include "cupti/copies.hpp"
#include "cupti/decode.hpp"
#include "cupti/decode_families.hpp"

namespace cuward::cupti {

// --- texture and surface objects ----------------------------------------------------------------

/// What a kernel can reach by an object made from this; nothing for arrays that are not known.
inline ByteRange resource_range(const Decoder& decoder, const CUDA_RESOURCE_DESC& resource) {
    const auto array = [&](std::uint64_t handle) {
        const auto place = decoder.blocks().find_array(handle);
        return place ? place->range : ByteRange{};
    };
    switch (resource.resType) {
        case CU_RESOURCE_TYPE_ARRAY:
            return array(value_of(resource.res.array.hArray));
        case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
            return array(value_of(resource.res.mipmap.hMipmappedArray));
        case CU_RESOURCE_TYPE_LINEAR:
            return ByteRange::linear(resource.res.linear.devPtr, resource.res.linear.sizeInBytes);
        case CU_RESOURCE_TYPE_PITCH2D: {
            const auto& rows = resource.res.pitch2D;
            const std::uint64_t last = rows.height == 0 ? 0 : (rows.height - 1) * rows.pitchInBytes;
            return ByteRange::linear(rows.devPtr, last + rows.pitchInBytes);
        }
        default:
            return {};
    }
}

template <ObjectKind kKind>
struct CreateObject {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        if (params.pResDesc == nullptr) {
            return;
        }
        call.effect = Effect::ObjectCreated;
        call.object = kKind;
        if constexpr (requires { params.pTexObject; }) {
            call.created = params.pTexObject;
        } else {
            call.created = params.pSurfObject;
        }
        const ByteRange range = resource_range(decoder, *params.pResDesc);
        if (!range.empty()) {
            call.accesses.push_back(
                {.range = range,
                 .access = kKind == ObjectKind::Texture ? Access::Read : Access::ReadWrite,
                 .range_exact = false});
        }
    }
};

template <ObjectKind kKind>
struct DestroyObject {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::ObjectDestroyed;
        call.object = kKind;
        if constexpr (requires { params.texObject; }) {
            call.handle = params.texObject;
        } else {
            call.handle = params.surfObject;
        }
    }
};

// --- arrays -------------------------------------------------------------------------------------

struct ArrayLevel {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::ArrayLevelFound;
        call.created = params.pLevelArray;
        call.handle = value_of(params.hMipmappedArray);
        call.level = params.level;
    }
};

/// Gives sparse arrays other memory, in the order of the stream: what was there is gone.
struct MapArrays {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        queue(params, OperationKind::Copy, call);
        for (unsigned int i = 0; i < params.count; ++i) {
            const CUarrayMapInfo& map = params.mapInfoList[i];
            const bool is_array = map.resourceType == CU_RESOURCE_TYPE_ARRAY;
            const auto place = decoder.blocks().find_array(
                is_array ? value_of(map.resource.array) : value_of(map.resource.mipmap));
            if (place) {
                call.accesses.push_back(
                    {.range = place->range, .access = Access::Write, .range_exact = false});
            }
        }
    }
};

// --- variables of modules and libraries ---------------------------------------------------------

template <BlockKind kKind>
struct FindVariable {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::VariableFound;
        call.variable = kKind;
        call.created = params.dptr;
        call.created_bytes = params.bytes;
        call.name = params.name;
        if constexpr (requires { params.hmod; }) {
            call.handle = value_of(params.hmod);
            call.is_library = false;
        } else {
            call.handle = value_of(params.library);
            call.is_library = true;
        }
    }
};

/// The end of a module or library.
struct UnloadCode {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::CodeUnloaded;
        if constexpr (requires { params.hmod; }) {
            call.handle = value_of(params.hmod);
        } else {
            call.handle = value_of(params.library);
        }
    }
};

// --- addresses and attributes -------------------------------------------------------------------

struct DevicePointer {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        call.effect = Effect::DeviceAddressFound;
        call.created = params.pdptr;
        call.handle = value_of(params.p);
    }
};

struct SetPointerAttribute {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        if (params.attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && params.value != nullptr) {
            call.effect = Effect::CopiesSynchronize;
            call.handle = params.ptr;
            call.enabled = *static_cast<const int*>(params.value) != 0;
        }
    }
};

/// What is discarded may be anything until it is written: as good as a write.
struct Discard {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        queue(params, OperationKind::Memset, call);
        for (std::size_t i = 0; i < params.count; ++i) {
            add_write(decoder.blocks(), ByteRange::linear(params.dptrs[i], params.sizes[i]), call);
        }
    }
};

}  // namespace cuward::cupti
