// The decoders of functions that write values for others to wait for, and that wait for them
// (Driver API manual, "Stream Memory Operations" and "External Resource Interoperability").
#pragma once

#include "cupti/decode_families.hpp"

namespace cuward::cupti {

/// Adds what one of them does, and the bytes it touches.
inline void add_value(const BlockLookup& blocks, const ValueOperation& value, Call& call) {
    call.values.push_back(value);
    call.waits_for_unknown = call.waits_for_unknown || !value.is_write();
    if (blocks.may_be_tracked(value.address)) {
        call.accesses.push_back({.range = ByteRange::linear(value.address, value.bytes()),
                                 .access = value.is_write() ? Access::Write : Access::Read,
                                 .is_value = true});
    }
}

inline ValueOperation written_value(std::uint64_t address, std::uint64_t value, bool is_wide,
                                    unsigned int flags) {
    return {.kind = ValueKind::Write,
            .is_wide = is_wide,
            .is_fenced = (flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) == 0,
            .address = address,
            .value = value};
}

inline ValueOperation awaited_value(std::uint64_t address, std::uint64_t value, bool is_wide,
                                    unsigned int flags) {
    constexpr ValueKind kKinds[] = {ValueKind::WaitGreaterOrEqual, ValueKind::WaitEqual,
                                    ValueKind::WaitAnd, ValueKind::WaitNor};
    return {.kind = kKinds[flags & 3], .is_wide = is_wide, .address = address, .value = value};
}

template <ValueOperation (*kMake)(std::uint64_t, std::uint64_t, bool, unsigned int)>
struct OneValue {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        use_stream(params.stream, call);
        queue(params, OperationKind::Values, call);
        add_value(decoder.blocks(),
                  kMake(params.addr, params.value, sizeof params.value == 8, params.flags), call);
    }
};

/// A batch is carried out in its order. Barriers and flushes in it touch nothing.
struct ValueBatch {
    template <typename Params>
    static void decode(const Decoder& decoder, const DriverCall&, const Params& params,
                       Call& call) {
        use_stream(params.stream, call);
        queue(params, OperationKind::Values, call);
        for (unsigned int i = 0; params.paramArray != nullptr && i < params.count; ++i) {
            add(decoder.blocks(), params.paramArray[i], call);
        }
    }

  private:
    static void add(const BlockLookup& blocks, const CUstreamBatchMemOpParams& one, Call& call) {
        const bool is_wide = one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64 ||
                             one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
        switch (one.operation) {
            case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            case CU_STREAM_MEM_OP_WRITE_VALUE_64:
                add_value(blocks,
                          written_value(one.writeValue.address,
                                        is_wide ? one.writeValue.value64 : one.writeValue.value,
                                        is_wide, one.writeValue.flags),
                          call);
                break;
            case CU_STREAM_MEM_OP_WAIT_VALUE_32:
            case CU_STREAM_MEM_OP_WAIT_VALUE_64:
                add_value(blocks,
                          awaited_value(one.waitValue.address,
                                        is_wide ? one.waitValue.value64 : one.waitValue.value,
                                        is_wide, one.waitValue.flags),
                          call);
                break;
            default:
                break;
        }
    }
};

/// Semaphores shared with others: values that grow, at no address. Whoever else signals one cannot
/// be seen, so a wait always stands for anything besides.
template <ValueKind kKind>
struct Semaphores {
    template <typename Params>
    static void decode(const Decoder&, const DriverCall&, const Params& params, Call& call) {
        use_stream(params.stream, call);
        queue(params, OperationKind::Values, call);
        call.waits_for_unknown = kKind != ValueKind::Write;
        for (unsigned int i = 0; i < params.numExtSems; ++i) {
            call.values.push_back({.kind = kKind,
                                   .is_wide = true,
                                   .address = value_of(params.extSemArray[i]),
                                   .value = params.paramsArray[i].params.fence.value});
        }
    }
};

}  // namespace cuward::cupti
