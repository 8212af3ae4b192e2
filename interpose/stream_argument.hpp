// The stream argument of a driver call, as the tracker names streams.
#pragma once

#include <cuda.h>

#include "core/types.hpp"
#include "interpose/driver_state.hpp"

namespace cuward {

/// The stream a call names, with handle 0 replaced by what it means at this entry point.
inline CUstream named_stream(CUstream stream, StreamId default_stream) {
    return stream != nullptr ? stream : reinterpret_cast<CUstream>(default_stream);
}

inline StreamId id_of(CUstream stream) {
    return StreamId{reinterpret_cast<std::uint64_t>(stream)};
}

inline StreamRef stream_of(const DriverState::Current& place, CUstream stream) {
    return {.context = place.context, .stream = id_of(stream)};
}

}  // namespace cuward
