// Physical memory and addresses to map it at, for the sample applications.
#pragma once

#include "driver_app.hpp"

inline CUmemAllocationProp on_device() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = 0;
    return properties;
}

/// The smallest amount that can be mapped.
inline std::size_t granularity() {
    const CUmemAllocationProp properties = on_device();
    std::size_t bytes = 0;
    CHECK(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return bytes;
}

inline CUdeviceptr reserve(std::size_t bytes) {
    CUdeviceptr addresses = 0;
    CHECK(cuMemAddressReserve(&addresses, bytes, 0, 0, 0));
    return addresses;
}

/// Maps the whole of the memory, for the device to read and write.
inline void map(CUdeviceptr addresses, CUmemGenericAllocationHandle memory, std::size_t bytes) {
    CUmemAccessDesc access{};
    access.location = on_device().location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cuMemMap(addresses, bytes, 0, memory, 0));
    CHECK(cuMemSetAccess(addresses, bytes, &access, 1));
}

inline void unmap(CUdeviceptr addresses, std::size_t bytes) {
    CHECK(cuMemUnmap(addresses, bytes));
    CHECK(cuMemAddressFree(addresses, bytes));
}

class Stream {
  public:
    Stream() { CHECK(cuStreamCreate(&handle_, CU_STREAM_NON_BLOCKING)); }
    ~Stream() { CHECK(cuStreamDestroy(handle_)); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator CUstream() const { return handle_; }

  private:
    CUstream handle_ = nullptr;
};

/// Makes all later work of `later` wait for all work queued on `earlier` so far.
inline void order(CUstream earlier, CUstream later) {
    CUevent reached;
    CHECK(cuEventCreate(&reached, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventRecord(reached, earlier));
    CHECK(cuStreamWaitEvent(later, reached, 0));
    CHECK(cuEventDestroy(reached));
}
