#include <cuda.h>
#include <unistd.h>

#include "simgpu.hpp"

// Memory with more than one name: physical memory and its mappings, texture and surface objects.
namespace {

class Memory : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_CU(cuInit(0));
        ASSERT_CU(cuDevicePrimaryCtxRetain(&context, 0));
        ASSERT_CU(cuCtxSetCurrent(context));
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        ASSERT_CU(
            cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        ASSERT_CU(cuMemAddressReserve(&addresses, 2 * bytes, 0, 0, 0));
    }
    void TearDown() override {
        EXPECT_CU(cuMemAddressFree(addresses, 2 * bytes));
        cuCtxSetCurrent(nullptr);
        cuDevicePrimaryCtxRelease(0);
    }
    CUmemGenericAllocationHandle create() {
        CUmemGenericAllocationHandle memory = 0;
        EXPECT_CU(cuMemCreate(&memory, bytes, &properties, 0));
        return memory;
    }
    void allow(CUdeviceptr ptr, size_t size) {
        const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        EXPECT_CU(cuMemSetAccess(ptr, size, &access, 1));
    }
    static unsigned char byte_at(CUdeviceptr ptr) {
        unsigned char byte = 0;
        EXPECT_CU(cuMemcpyDtoH(&byte, ptr, 1));
        return byte;
    }

    CUcontext context = nullptr;
    CUmemAllocationProp properties{};
    size_t bytes = 0;
    CUdeviceptr addresses = 0;
};

TEST_F(Memory, TwoAddressesOfPhysicalMemoryAreTheSameBytes) {
    const auto memory = create();
    ASSERT_CU(cuMemMap(addresses, bytes, 0, memory, 0));
    ASSERT_CU(cuMemMap(addresses + bytes, bytes, 0, memory, 0));
    EXPECT_NE(cuMemsetD8(addresses, 1, bytes), CUDA_SUCCESS) << "nobody may use it yet";
    allow(addresses, 2 * bytes);
    EXPECT_CU(cuMemsetD8(addresses, 7, bytes));
    EXPECT_EQ(byte_at(addresses + bytes + 100), 7);
    EXPECT_CU(cuMemUnmap(addresses, 2 * bytes));
    EXPECT_CU(cuMemRelease(memory));
}

TEST_F(Memory, CopiesAndMemsetsGoOverMappingsSideBySide) {
    const auto low = create();
    const auto high = create();
    ASSERT_CU(cuMemMap(addresses, bytes, 0, low, 0));
    ASSERT_CU(cuMemMap(addresses + bytes, bytes, 0, high, 0));
    EXPECT_CU(cuMemRelease(low));
    EXPECT_CU(cuMemRelease(high));
    allow(addresses, 2 * bytes);
    EXPECT_CU(cuMemsetD8(addresses + bytes - 1, 5, 2));
    EXPECT_EQ(byte_at(addresses + bytes), 5);
    EXPECT_NE(cuMemsetD8(addresses + bytes, 5, bytes + 1), CUDA_SUCCESS) << "nothing is there";
    EXPECT_CU(cuMemUnmap(addresses, 2 * bytes));
}

TEST_F(Memory, WhatIsMappedIsUnmappedAsAWhole) {
    const auto memory = create();
    ASSERT_CU(cuMemMap(addresses, bytes, 0, memory, 0));
    EXPECT_NE(cuMemUnmap(addresses, bytes / 2), CUDA_SUCCESS);
    EXPECT_NE(cuMemAddressFree(addresses, 2 * bytes), CUDA_SUCCESS);
    EXPECT_NE(cuMemMap(addresses, bytes, 0, memory, 0), CUDA_SUCCESS) << "taken";
    EXPECT_CU(cuMemUnmap(addresses, bytes));
    EXPECT_CU(cuMemRelease(memory));
    EXPECT_NE(cuMemRelease(memory), CUDA_SUCCESS);
}

TEST_F(Memory, AnImportedHandleIsTheSameMemory) {
    const auto memory = create();
    int file = -1;
    ASSERT_CU(
        cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUmemGenericAllocationHandle imported = 0;
    ASSERT_CU(cuMemImportFromShareableHandle(&imported,
                                             reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    ASSERT_CU(cuMemMap(addresses, bytes, 0, memory, 0));
    ASSERT_CU(cuMemMap(addresses + bytes, bytes, 0, imported, 0));
    allow(addresses, 2 * bytes);
    EXPECT_CU(cuMemsetD8(addresses, 9, 1));
    EXPECT_EQ(byte_at(addresses + bytes), 9);
    EXPECT_CU(cuMemUnmap(addresses, 2 * bytes));
    EXPECT_CU(cuMemRelease(memory));
    EXPECT_CU(cuMemRelease(imported));
}

TEST_F(Memory, ObjectsRememberWhatTheyAreMadeOf) {
    const CUDA_ARRAY_DESCRIPTOR flat{
        .Width = 16, .Height = 16, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    ASSERT_CU(cuArrayCreate(&resource.res.array.hArray, &flat));
    const CUDA_TEXTURE_DESC description{};
    CUtexObject texture = 0;
    CUsurfObject surface = 0;
    ASSERT_CU(cuTexObjectCreate(&texture, &resource, &description, nullptr));
    ASSERT_CU(cuSurfObjectCreate(&surface, &resource));
    CUDA_RESOURCE_DESC told{};
    ASSERT_CU(cuTexObjectGetResourceDesc(&told, texture));
    EXPECT_EQ(told.res.array.hArray, resource.res.array.hArray);
    EXPECT_CU(cuTexObjectDestroy(texture));
    EXPECT_NE(cuTexObjectDestroy(texture), CUDA_SUCCESS);
    EXPECT_CU(cuSurfObjectDestroy(surface));
    EXPECT_CU(cuArrayDestroy(resource.res.array.hArray));
    EXPECT_NE(cuSurfObjectCreate(&surface, &resource), CUDA_SUCCESS);
}

}  // namespace
