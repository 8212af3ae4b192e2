#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "headers.hpp"

// One description of every copy of the API, and the rule that says for what the host waits.
namespace simgpu {

class Stream;

enum class Place { Pageable, Pinned, Device };

struct Side {
    std::byte* base = nullptr;
    size_t pitch = 0;
    size_t slice = 0;
    Place place = Place::Pageable;
    bool synchronizes = false;  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS

    std::byte* row(size_t y, size_t z) const { return base + z * slice + y * pitch; }
};

struct CopyTask {
    CUDA_MEMCPY3D shape{};
    Side source;
    Side target;
    std::vector<std::byte> staged;  // the source's bytes, when they were taken at the call

    size_t bytes() const { return shape.WidthInBytes * shape.Height * shape.Depth; }
};

struct Array {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    size_t element_bytes = 1;
    std::vector<std::byte> storage;
    class Context* context = nullptr;
    bool alive = true;

    size_t pitch() const { return descriptor.Width * element_bytes; }
    size_t rows() const { return descriptor.Height != 0 ? descriptor.Height : 1; }
    size_t slices() const { return descriptor.Depth != 0 ? descriptor.Depth : 1; }
    static Array* from(CUarray handle) { return reinterpret_cast<Array*>(handle); }
};

CUresult make_copy(const CUDA_MEMCPY3D& shape, CopyTask& copy);
void run_copy(const CopyTask& copy);

// A one-dimensional copy in terms of the general one.
CUDA_MEMCPY3D linear_copy(CUmemorytype to_type, uintptr_t to, CUmemorytype from_type,
                          uintptr_t from, size_t bytes);

enum class HostWait { None, EarlierWork, Completion };
HostWait host_wait(const CopyTask& copy, bool async);

const char* direction_name(const CopyTask& copy);  // htod, dtoh, dtod, htoh

// Performs the copy on the stream with the waiting the API promises.
CUresult submit_copy(Stream& stream, const CUDA_MEMCPY3D& shape, bool async, uint64_t extra_ns);

}  // namespace simgpu
