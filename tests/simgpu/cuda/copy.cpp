#include "copy.hpp"

#include "capture.hpp"
#include "config.hpp"
#include "context.hpp"
#include "memory.hpp"
#include "tasks.hpp"

namespace simgpu {
namespace {

// Measured between these: 1 MiB of pageable memory does not wait, 32 MiB does.
constexpr size_t async_staging_limit = size_t{1} << 20;

struct SideShape {
    CUmemorytype type;
    uintptr_t address;
    CUarray array;
    size_t x, y, z, pitch, height;
};

CUresult resolve(const SideShape& in, const CUDA_MEMCPY3D& shape, Side& side) {
    if (in.type == CU_MEMORYTYPE_ARRAY) {
        const Array* array = Array::from(in.array);
        if (array == nullptr || !array->alive) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (in.x + shape.WidthInBytes > array->pitch() || in.y + shape.Height > array->rows() ||
            in.z + shape.Depth > array->slices()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        side.pitch = array->pitch();
        side.slice = side.pitch * array->rows();
        side.place = Place::Device;
        side.base = const_cast<std::byte*>(array->storage.data());
        side.base += in.x + in.y * side.pitch + in.z * side.slice;
        return CUDA_SUCCESS;
    }
    if (in.address == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    side.pitch = in.pitch != 0 ? in.pitch : shape.WidthInBytes;
    side.slice = side.pitch * (in.height != 0 ? in.height : shape.Height);
    if (shape.Height > 1 && side.pitch < shape.WidthInBytes) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const uintptr_t first = in.address + in.x + in.y * side.pitch + in.z * side.slice;
    side.base = reinterpret_cast<std::byte*>(first);
    const auto allocation = find_allocation(first);
    if (!allocation) {
        side.place = Place::Pageable;
        return in.type == CU_MEMORYTYPE_DEVICE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    }
    side.place = allocation->host() ? Place::Pinned : Place::Device;
    side.synchronizes = allocation->sync_memops;
    const uintptr_t end = first + (shape.Depth - 1) * side.slice + (shape.Height - 1) * side.pitch +
                          shape.WidthInBytes;
    return end > end_of_mapped(*allocation) && !allocation->host() ? CUDA_ERROR_INVALID_VALUE
                                                                   : CUDA_SUCCESS;
}

uintptr_t address_of(CUmemorytype type, const void* host, CUdeviceptr device) {
    return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uintptr_t>(host)
                                      : static_cast<uintptr_t>(device);
}

void stage(CopyTask& copy) {
    copy.staged.resize(copy.bytes());
    std::byte* to = copy.staged.data();
    for (size_t z = 0; z < copy.shape.Depth; ++z) {
        for (size_t y = 0; y < copy.shape.Height; ++y) {
            move_bytes(to, copy.source.row(y, z), copy.shape.WidthInBytes);
            to += copy.shape.WidthInBytes;
        }
    }
    copy.source.base = copy.staged.data();
    copy.source.pitch = copy.shape.WidthInBytes;
    copy.source.slice = copy.source.pitch * copy.shape.Height;
}

}  // namespace

CUDA_MEMCPY3D linear_copy(CUmemorytype to_type, uintptr_t to, CUmemorytype from_type,
                          uintptr_t from, size_t bytes) {
    CUDA_MEMCPY3D shape{};
    shape.srcMemoryType = from_type;
    shape.srcHost = reinterpret_cast<const void*>(from);
    shape.srcDevice = from;
    shape.dstMemoryType = to_type;
    shape.dstHost = reinterpret_cast<void*>(to);
    shape.dstDevice = to;
    shape.WidthInBytes = bytes;
    shape.Height = 1;
    shape.Depth = 1;
    return shape;
}

CUresult make_copy(const CUDA_MEMCPY3D& shape, CopyTask& copy) {
    copy.shape = shape;
    if (copy.shape.Depth == 0) {
        copy.shape.Depth = 1;
    }
    const CUresult result =
        resolve({shape.srcMemoryType,
                 address_of(shape.srcMemoryType, shape.srcHost, shape.srcDevice), shape.srcArray,
                 shape.srcXInBytes, shape.srcY, shape.srcZ, shape.srcPitch, shape.srcHeight},
                copy.shape, copy.source);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    return resolve({shape.dstMemoryType,
                    address_of(shape.dstMemoryType, shape.dstHost, shape.dstDevice), shape.dstArray,
                    shape.dstXInBytes, shape.dstY, shape.dstZ, shape.dstPitch, shape.dstHeight},
                   copy.shape, copy.target);
}

void run_copy(const CopyTask& copy) {
    for (size_t z = 0; z < copy.shape.Depth; ++z) {
        for (size_t y = 0; y < copy.shape.Height; ++y) {
            move_bytes(copy.target.row(y, z), copy.source.row(y, z), copy.shape.WidthInBytes);
        }
    }
}

// The measured table. "Async" is the form of the call, not what happens.
HostWait host_wait(const CopyTask& copy, bool async) {
    const bool from_device = copy.source.place == Place::Device;
    const bool to_device = copy.target.place == Place::Device;
    if (!async && (copy.source.synchronizes || copy.target.synchronizes)) {
        return HostWait::Completion;
    }
    if (from_device && to_device) {
        return HostWait::None;
    }
    if (!from_device && !to_device) {
        return HostWait::Completion;
    }
    if (from_device) {
        return async && copy.target.place == Place::Pinned ? HostWait::None : HostWait::Completion;
    }
    if (copy.source.place == Place::Pinned) {
        return async ? HostWait::None : HostWait::Completion;
    }
    // Pageable: the call waits for what came before, takes the source, and leaves the transfer.
    return async && copy.bytes() <= async_staging_limit ? HostWait::None : HostWait::EarlierWork;
}

const char* direction_name(const CopyTask& copy) {
    const bool from_device = copy.source.place == Place::Device;
    const bool to_device = copy.target.place == Place::Device;
    if (from_device) {
        return to_device ? "dtod" : "dtoh";
    }
    return to_device ? "htod" : "htoh";
}

CUresult submit_copy(Stream& stream, const CUDA_MEMCPY3D& shape, bool async, uint64_t extra_ns) {
    if (shape.WidthInBytes == 0 || shape.Height == 0) {
        return CUDA_SUCCESS;
    }
    CopyTask copy;
    CUresult result = make_copy(shape, copy);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (stream.capture != nullptr) {
        return async ? submit(stream, std::move(copy), extra_ns)
                     : forbid_in_capture(stream.context());
    }
    if (!async) {
        result = forbid_in_capture(stream.context());
        if (result != CUDA_SUCCESS) {
            return result;
        }
    }
    const HostWait wait_for = host_wait(copy, async);
    if (wait_for == HostWait::EarlierWork && !stream.wait_earlier_work()) {
        return CUDA_ERROR_DEINITIALIZED;
    }
    if (copy.source.place == Place::Pageable && copy.target.place == Place::Device) {
        stage(copy);
    }
    Point point;
    result = submit(stream, std::move(copy), extra_ns, &point);
    if (result == CUDA_SUCCESS && wait_for == HostWait::Completion && !wait(point)) {
        return CUDA_ERROR_DEINITIALIZED;
    }
    return result;
}

}  // namespace simgpu
