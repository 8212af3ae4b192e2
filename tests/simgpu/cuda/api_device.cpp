#include <algorithm>
#include <cstdio>
#include <cstring>

#include "body.hpp"

namespace {

// Roughly an H200; limits that programs size their launches by are the real ones.
struct Attribute {
    CUdevice_attribute id;
    int value;
};

constexpr Attribute attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 1},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, -1},
};

}  // namespace

using namespace simgpu;

SIM_API(cuDeviceGetCount, , 2000, int*, count) {
    SIM_REQUIRE(count != nullptr);
    SIM_TRY(initialised() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED);
    *count = config().devices;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGet, , 2000, CUdevice*, device, int, ordinal) {
    SIM_REQUIRE(device != nullptr);
    SIM_TRY(require_device(ordinal));
    *device = ordinal;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetName, , 2000, char*, name, int, len, CUdevice, dev) {
    SIM_REQUIRE(name != nullptr && len > 0);
    SIM_TRY(require_device(dev));
    std::snprintf(name, static_cast<size_t>(len), "Simulated GPU");
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetUuid, _v2, 11040, CUuuid*, uuid, CUdevice, dev) {
    SIM_REQUIRE(uuid != nullptr);
    SIM_TRY(require_device(dev));
    std::memcpy(uuid->bytes, "simulated-gpu-00", sizeof uuid->bytes);
    uuid->bytes[15] = static_cast<char>('0' + dev);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetUuid, , 9020, CUuuid*, uuid, CUdevice, dev) {
    SIM_REQUIRE(uuid != nullptr);
    SIM_TRY(require_device(dev));
    return cuDeviceGetUuid_v2_body(call, uuid, dev);
}

SIM_API(cuDeviceGetLuid, , 10000, char*, luid, unsigned int*, deviceNodeMask, CUdevice, dev) {
    SIM_REQUIRE(luid != nullptr && deviceNodeMask != nullptr);
    SIM_TRY(require_device(dev));
    std::memset(luid, 0, 8);
    *deviceNodeMask = 1;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceTotalMem, _v2, 3020, size_t*, bytes, CUdevice, dev) {
    SIM_REQUIRE(bytes != nullptr);
    SIM_TRY(require_device(dev));
    *bytes = config().memory_bytes;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetAttribute, , 2000, int*, pi, CUdevice_attribute, attrib, CUdevice, dev) {
    SIM_REQUIRE(pi != nullptr);
    SIM_TRY(require_device(dev));
    *pi = 0;
    for (const Attribute& attribute : attributes) {
        if (attribute.id == attrib) {
            *pi = attribute.value;
        }
    }
    if (attrib == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) {
        *pi = dev;
    }
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceComputeCapability, , 2000, int*, major, int*, minor, CUdevice, dev) {
    SIM_REQUIRE(major != nullptr && minor != nullptr);
    SIM_TRY(require_device(dev));
    *major = 9;
    *minor = 0;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetPCIBusId, , 4010, char*, pciBusId, int, len, CUdevice, dev) {
    SIM_REQUIRE(pciBusId != nullptr && len > 0);
    SIM_TRY(require_device(dev));
    std::snprintf(pciBusId, static_cast<size_t>(len), "0000:01:%02x.0", static_cast<unsigned>(dev));
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetByPCIBusId, , 4010, CUdevice*, dev, const char*, pciBusId) {
    SIM_REQUIRE(dev != nullptr && pciBusId != nullptr);
    unsigned ordinal = 0;
    SIM_REQUIRE(std::sscanf(pciBusId, "0000:01:%x", &ordinal) == 1);
    SIM_TRY(require_device(static_cast<int>(ordinal)));
    *dev = static_cast<int>(ordinal);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceCanAccessPeer, , 4000, int*, canAccessPeer, CUdevice, dev, CUdevice, peerDev) {
    SIM_REQUIRE(canAccessPeer != nullptr);
    SIM_TRY(require_device(dev));
    SIM_TRY(require_device(peerDev));
    *canAccessPeer = dev != peerDev ? 1 : 0;
    return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxRetain, , 7000, CUcontext*, pctx, CUdevice, dev) {
    SIM_REQUIRE(pctx != nullptr);
    SIM_TRY(require_device(dev));
    Context& context = primary_context(dev);
    context.retain();
    *pctx = context.handle();
    return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxRelease, _v2, 11000, CUdevice, dev) {
    SIM_TRY(require_device(dev));
    return primary_context(dev).release() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

SIM_API(cuDevicePrimaryCtxReset, _v2, 11000, CUdevice, dev) {
    SIM_TRY(require_device(dev));
    Context& context = primary_context(dev);
    if (context.alive()) {
        context.close();
    }
    return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxSetFlags, _v2, 11000, CUdevice, dev, unsigned int, flags) {
    SIM_TRY(require_device(dev));
    primary_context(dev).flags = flags;
    return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxGetState, , 7000, CUdevice, dev, unsigned int*, flags, int*, active) {
    SIM_REQUIRE(flags != nullptr && active != nullptr);
    SIM_TRY(require_device(dev));
    *flags = primary_context(dev).flags;
    *active = primary_context(dev).alive() ? 1 : 0;
    return CUDA_SUCCESS;
}
