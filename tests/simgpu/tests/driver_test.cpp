#include <cuda.h>

#include <string>

#include "simgpu.hpp"

// The driver's interface: look-ups, contexts, code and parameter layouts, faults.
namespace {

class Driver : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_CU(cuInit(0));
        ASSERT_CU(cuDevicePrimaryCtxRetain(&context, 0));
        ASSERT_CU(cuCtxSetCurrent(context));
    }
    void TearDown() override {
        cuCtxSetCurrent(nullptr);
        cuDevicePrimaryCtxRelease(0);
    }
    CUcontext context = nullptr;
};

void* look_up(const char* name, int version, cuuint64_t flags,
              CUdriverProcAddressQueryResult& status) {
    void* found = nullptr;
    EXPECT_CU(cuGetProcAddress(name, &found, version, flags, &status));
    return found;
}

TEST_F(Driver, LookUpGivesTheNewestFormTheVersionKnows) {
    CUdriverProcAddressQueryResult status{};
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    EXPECT_EQ(look_up("cuMemAlloc", 12000, 0, status), dlsym(library, "cuMemAlloc_v2"));
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
    EXPECT_EQ(look_up("cuCtxSynchronize", 12000, 0, status), dlsym(library, "cuCtxSynchronize"));
    EXPECT_EQ(look_up("cuCtxSynchronize", 13000, 0, status), dlsym(library, "cuCtxSynchronize_v2"));
    EXPECT_EQ(look_up("cuMemAllocAsync", 11000, 0, status), nullptr);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    EXPECT_EQ(look_up("cuNoSuchThing", 13000, 0, status), nullptr);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

TEST_F(Driver, LookUpGivesThePerThreadFormWhenAsked) {
    CUdriverProcAddressQueryResult status{};
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    constexpr auto per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    EXPECT_EQ(look_up("cuLaunchKernel", 12000, per_thread, status),
              dlsym(library, "cuLaunchKernel_ptsz"));
    EXPECT_EQ(look_up("cuMemcpyHtoD", 12000, per_thread, status),
              dlsym(library, "cuMemcpyHtoD_v2_ptds"));
    EXPECT_EQ(look_up("cuMemFree", 12000, per_thread, status), dlsym(library, "cuMemFree_v2"));
    EXPECT_EQ(look_up("cuLaunchKernel", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, status),
              dlsym(library, "cuLaunchKernel"));
}

struct Parameter {
    size_t offset;
    size_t size;
};

void expect_layout(CUkernel kernel, const std::vector<Parameter>& expected) {
    for (size_t index = 0; index < expected.size(); ++index) {
        size_t offset = 0;
        size_t size = 0;
        ASSERT_CU(cuKernelGetParamInfo(kernel, index, &offset, &size));
        EXPECT_EQ(offset, expected[index].offset);
        EXPECT_EQ(size, expected[index].size);
    }
    size_t offset = 0;
    EXPECT_EQ(cuKernelGetParamInfo(kernel, expected.size(), &offset, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

class FatBinary : public Driver, public testing::WithParamInterface<const char*> {};

TEST_P(FatBinary, LayoutsAreTheCompilers) {
    CUlibrary library = nullptr;
    ASSERT_CU(
        cuLibraryLoadFromFile(&library, GetParam(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    CUkernel kernel = nullptr;
    ASSERT_CU(cuLibraryGetKernel(&kernel, library, "plain"));
    expect_layout(kernel, {{0, 4}, {8, 8}, {16, 8}});
    ASSERT_CU(cuLibraryGetKernel(&kernel, library, "mixed"));
    expect_layout(kernel, {{0, 1}, {8, 24}, {32, 2}});
    ASSERT_CU(cuLibraryGetKernel(&kernel, library, "large"));
    expect_layout(kernel, {{0, 20000}, {20000, 8}});
    ASSERT_CU(cuLibraryGetKernel(&kernel, library, "nothing"));
    expect_layout(kernel, {});
    EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "absent"), CUDA_ERROR_NOT_FOUND);
    unsigned kernels = 0;
    ASSERT_CU(cuLibraryGetKernelCount(&kernels, library));
    EXPECT_EQ(kernels, 4U);
    ASSERT_CU(cuLibraryUnload(library));
}

TEST_P(FatBinary, GlobalsAreInitialised) {
    CUmodule module = nullptr;
    ASSERT_CU(cuModuleLoad(&module, GetParam()));
    CUdeviceptr address = 0;
    size_t size = 0;
    ASSERT_CU(cuModuleGetGlobal(&address, &size, module, "table"));
    EXPECT_EQ(size, 24U);
    int values[6] = {};
    ASSERT_CU(cuMemcpyDtoH(values, address, size));
    EXPECT_EQ(values[5], 6);
    ASSERT_CU(cuModuleGetGlobal(&address, &size, module, "weights"));
    EXPECT_EQ(size, 24U);
    ASSERT_CU(cuModuleUnload(module));
}

INSTANTIATE_TEST_SUITE_P(
    Compression, FatBinary,
    testing::Values(SIMGPU_LAYOUTS, SIMGPU_LAYOUTS_PLAIN, SIMGPU_LAYOUTS_SMALL),
    [](const auto& param) {
        return std::string(param.index == 0 ? "Default" : param.index == 1 ? "None" : "Size");
    });

TEST_F(Driver, KernelsAndFunctionsAreDifferentHandles) {
    CUlibrary library = nullptr;
    ASSERT_CU(
        cuLibraryLoadFromFile(&library, SIMGPU_LAYOUTS, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    ASSERT_CU(cuLibraryGetKernel(&kernel, library, "nothing"));
    ASSERT_CU(cuKernelGetFunction(&function, kernel));
    EXPECT_NE(static_cast<void*>(kernel), static_cast<void*>(function));
    size_t offset = 0;
    EXPECT_EQ(cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), 0, &offset, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuKernelGetParamInfo(reinterpret_cast<CUkernel>(function), 0, &offset, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
    const char* name = nullptr;
    ASSERT_CU(cuFuncGetName(&name, function));
    EXPECT_STREQ(name, "nothing");
    // A launch takes either.
    for (const CUfunction f : {function, reinterpret_cast<CUfunction>(kernel)}) {
        EXPECT_CU(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    }
    ASSERT_CU(cuCtxSynchronize());
}

TEST_F(Driver, ContextsStackAndDie) {
    CUcontext second = nullptr;
    ASSERT_CU(cuCtxCreate(&second, nullptr, 0, 0));
    CUcontext current = nullptr;
    ASSERT_CU(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, second);
    CUdeviceptr mine = 0;
    ASSERT_CU(cuMemAlloc(&mine, 512));
    ASSERT_CU(cuCtxPopCurrent(&current));
    EXPECT_EQ(current, second);
    ASSERT_CU(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, context);
    ASSERT_CU(cuCtxDestroy(second));
    EXPECT_EQ(cuMemFree(mine), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuCtxDestroy(second), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Driver, FaultsComeWhenAskedFor) {
    CUdeviceptr pointer = 0;
    {
        const simtest::Setting fail("SIMGPU_FAIL", "cuMemAlloc_v2:2=2,cuMemcpyHtoD_v2:*=719");
        EXPECT_CU(cuMemAlloc(&pointer, 64));
        CUdeviceptr other = 0;
        EXPECT_EQ(cuMemAlloc(&other, 64), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_CU(cuMemAlloc(&other, 64));
        EXPECT_CU(cuMemFree(other));
        int value = 0;
        EXPECT_EQ(cuMemcpyHtoD(pointer, &value, sizeof value), CUDA_ERROR_LAUNCH_FAILED);
        EXPECT_EQ(cuMemcpyHtoD(pointer, &value, sizeof value), CUDA_ERROR_LAUNCH_FAILED);
    }
    int value = 0;
    EXPECT_CU(cuMemcpyHtoD(pointer, &value, sizeof value));
    EXPECT_CU(cuMemFree(pointer));
}

TEST_F(Driver, MemoryRunsOut) {
    size_t free = 0;
    size_t total = 0;
    ASSERT_CU(cuMemGetInfo(&free, &total));
    CUdeviceptr pointer = 0;
    EXPECT_EQ(cuMemAlloc(&pointer, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
    ASSERT_CU(cuMemAlloc(&pointer, total / 2));
    size_t after = 0;
    ASSERT_CU(cuMemGetInfo(&after, &total));
    EXPECT_LE(after, free - total / 2);
    EXPECT_CU(cuMemFree(pointer));
}

// Only with SIMGPU_DEVICES of at least 2, which the driver reads when it starts.
TEST_F(Driver, EventsCrossDevicesAndLaunchesDoNot) {
    int devices = 0;
    ASSERT_CUDA(cudaGetDeviceCount(&devices));
    if (devices < 2) {
        GTEST_SKIP() << "one device";
    }
    cudaStream_t here = nullptr;
    ASSERT_CUDA(cudaStreamCreate(&here));
    cudaEvent_t event = nullptr;
    ASSERT_CUDA(cudaEventCreate(&event));
    ASSERT_CUDA(cudaSetDevice(1));
    int* there = nullptr;
    ASSERT_CUDA(cudaMalloc(&there, 4));
    ASSERT_CUDA(cudaMemset(there, 0, 4));
    ASSERT_CUDA(cudaDeviceSynchronize());  // a non-blocking stream would not wait for it
    cudaStream_t stream = nullptr;
    ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    kernels::launch_without_twin(here, there);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    const simtest::Gate gate;
    ASSERT_CUDA(cudaSetDevice(0));
    kernels::launch_gate(here);
    ASSERT_CUDA(cudaEventRecord(event, here));
    ASSERT_CUDA(cudaSetDevice(1));
    ASSERT_CUDA(cudaStreamWaitEvent(stream, event, 0));
    kernels::launch_add(stream, there, there, 1, 1);
    EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
    cudaGetLastError();
    kernels::open_gate();
    EXPECT_CUDA(cudaDeviceSynchronize());
    int value = 0;
    EXPECT_CUDA(cudaMemcpy(&value, there, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(value, 1);
    cudaPointerAttributes attributes{};
    EXPECT_CUDA(cudaPointerGetAttributes(&attributes, there));
    EXPECT_EQ(attributes.device, 1);
    ASSERT_CUDA(cudaFree(there));
    ASSERT_CUDA(cudaSetDevice(0));
}

TEST_F(Driver, OrdinaryMemoryCanBeFreedInStreamOrder) {
    CUdeviceptr pointer = 0;
    ASSERT_CU(cuMemAlloc(&pointer, 64));
    ASSERT_CU(cuMemFreeAsync(pointer, nullptr));
    EXPECT_EQ(cuMemFree(pointer), CUDA_ERROR_INVALID_VALUE);
    ASSERT_CU(cuCtxSynchronize());
    CUdeviceptr base = 0;
    EXPECT_EQ(cuMemGetAddressRange(&base, nullptr, pointer), CUDA_ERROR_NOT_FOUND);
}

class OwnPool : public Driver {
  protected:
    void SetUp() override {
        Driver::SetUp();
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
        ASSERT_CU(cuMemPoolCreate(&pool, &properties));
        cuuint64_t everything = ~cuuint64_t{0};
        ASSERT_CU(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &everything));
        ASSERT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    }
    void TearDown() override {
        EXPECT_CU(cuStreamDestroy(stream));
        EXPECT_CU(cuMemPoolDestroy(pool));
        Driver::TearDown();
    }
    CUdeviceptr allocate() {
        CUdeviceptr pointer = 0;
        EXPECT_CU(cuMemAllocFromPoolAsync(&pointer, bytes, pool, stream));
        return pointer;
    }
    cuuint64_t amount(CUmemPool_attribute attribute) {
        cuuint64_t value = 0;
        EXPECT_CU(cuMemPoolGetAttribute(pool, attribute, &value));
        return value;
    }

    static constexpr size_t bytes = 4096;
    CUmemoryPool pool = nullptr;
    CUstream stream = nullptr;
};

TEST_F(OwnPool, GivesAFreedBlockToAnotherStreamWhenItsFreeIsDone) {
    CUstream frees = nullptr;
    ASSERT_CU(cuStreamCreate(&frees, CU_STREAM_NON_BLOCKING));
    const CUdeviceptr first = allocate();
    {
        const simtest::Gate gate;
        kernels::launch_gate(frees);
        ASSERT_CU(cuMemFreeAsync(first, frees));
        EXPECT_NE(allocate(), first);
    }
    ASSERT_CU(cuStreamSynchronize(frees));
    EXPECT_EQ(allocate(), first);
    ASSERT_CU(cuMemFreeAsync(first, frees));
    ASSERT_CU(cuStreamSynchronize(frees));
    int off = 0;
    ASSERT_CU(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &off));
    EXPECT_NE(allocate(), first);
    EXPECT_CU(cuStreamDestroy(frees));
}

TEST_F(OwnPool, KeepsWhatIsFreedUntilItIsTrimmed) {
    const CUdeviceptr pointer = allocate();
    ASSERT_CU(cuMemFreeAsync(pointer, stream));
    ASSERT_CU(cuCtxSynchronize());
    EXPECT_EQ(amount(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
    EXPECT_EQ(amount(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), bytes);
    ASSERT_CU(cuMemPoolTrimTo(pool, 0));
    EXPECT_EQ(amount(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0U);
}

TEST_F(OwnPool, ItsMemoryOutlivesTheContext) {
    CUcontext other = nullptr;
    ASSERT_CU(cuCtxCreate(&other, nullptr, 0, 0));
    CUstream there = nullptr;
    ASSERT_CU(cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    CUdeviceptr pointer = 0;
    ASSERT_CU(cuMemAllocFromPoolAsync(&pointer, bytes, pool, there));
    ASSERT_CU(cuCtxDestroy(other));
    CUdeviceptr base = 0;
    EXPECT_EQ(cuMemGetAddressRange(&base, nullptr, pointer), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(amount(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), bytes);
    EXPECT_CU(cuMemFree(pointer));
    EXPECT_EQ(amount(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
}

TEST_F(OwnPool, ItsMemoryHasNoContextAndNoHandleForOtherProcesses) {
    const CUdeviceptr pooled = allocate();
    CUdeviceptr ordinary = 0;
    ASSERT_CU(cuMemAlloc(&ordinary, bytes));
    CUcontext owner = nullptr;
    ASSERT_CU(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, pooled));
    EXPECT_EQ(owner, nullptr);
    ASSERT_CU(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, ordinary));
    EXPECT_EQ(owner, context);
    CUmemoryPool from = nullptr;
    ASSERT_CU(cuPointerGetAttribute(&from, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pooled));
    EXPECT_EQ(from, pool);
    const auto shareable = [](CUdeviceptr pointer) {
        int capable = -1;
        EXPECT_CU(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                        pointer));
        return capable;
    };
    EXPECT_EQ(shareable(pooled), 0);
    EXPECT_EQ(shareable(ordinary), 1);
    CUipcMemHandle handle{};
    EXPECT_EQ(cuIpcGetMemHandle(&handle, pooled), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CU(cuIpcGetMemHandle(&handle, ordinary));
    EXPECT_CU(cuMemFree(ordinary));
    EXPECT_CU(cuMemFree(pooled));
}

TEST_F(OwnPool, OtherDevicesHaveAccessWhenGiven) {
    int devices = 0;
    ASSERT_CU(cuDeviceGetCount(&devices));
    if (devices < 2) {
        GTEST_SKIP() << "one device";
    }
    CUmemAccessDesc access{.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1},
                           .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAccess_flags flags{};
    ASSERT_CU(cuMemPoolGetAccess(&flags, pool, &access.location));
    EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    ASSERT_CU(cuMemPoolSetAccess(pool, &access, 1));
    ASSERT_CU(cuMemPoolGetAccess(&flags, pool, &access.location));
    EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_F(Driver, CopiesOfABlockCanBeMadeSynchronous) {
    CUdeviceptr pointer = 0;
    ASSERT_CU(cuMemAlloc(&pointer, 4096));
    unsigned on = 1;
    ASSERT_CU(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, pointer));
    on = 0;
    ASSERT_CU(cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, pointer));
    EXPECT_EQ(on, 1U);
    EXPECT_CU(cuMemFree(pointer));
}

TEST_F(Driver, ErrorsHaveNames) {
    const char* text = nullptr;
    ASSERT_CU(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
    EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
    ASSERT_CU(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    EXPECT_STREQ(text, "out of memory");
    EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
