#include <vector>

#include "registry.hpp"
#include "runtime.hpp"

using simrt::from;

namespace {

// What <<< >>> leaves for the stub it then calls; launches may nest in argument expressions.
struct Configuration {
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

// As the real runtime: the handle a launch gets is the kernel, not a function.
CUfunction as_function(CUkernel kernel) {
    return reinterpret_cast<CUfunction>(kernel);
}

cudaError_t launch(const simrt::Driver& d, CUkernel kernel, dim3 grid, dim3 block, void** arguments,
                   size_t shared_bytes, cudaStream_t stream) {
    const cudaError_t error = from(
        d.cuLaunchKernel(as_function(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                         static_cast<unsigned>(shared_bytes), stream, arguments, nullptr));
    // A shape no device takes is the runtime's own error.
    return error == cudaErrorInvalidValue ? cudaErrorInvalidConfiguration : error;
}

CUlaunchConfig driver_config(const cudaLaunchConfig_t& config) {
    CUlaunchConfig out{};
    out.gridDimX = config.gridDim.x;
    out.gridDimY = config.gridDim.y;
    out.gridDimZ = config.gridDim.z;
    out.blockDimX = config.blockDim.x;
    out.blockDimY = config.blockDim.y;
    out.blockDimZ = config.blockDim.z;
    out.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
    out.hStream = config.stream;
    out.attrs = reinterpret_cast<CUlaunchAttribute*>(config.attrs);
    out.numAttrs = config.numAttrs;
    return out;
}

int attribute_of(const simrt::Driver& d, CUkernel kernel, CUfunction_attribute attribute) {
    int value = 0;
    d.cuKernelGetAttribute(&value, attribute, kernel, simrt::current_device());
    return value;
}

template <class Body>
cudaError_t launch_kernel(bool per_thread, Body body) {
    return simrt::run(per_thread, simrt::Needs::Context, body);
}

}  // namespace

SIMRT_EXPORT unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                            size_t shared_bytes,
                                                            CUstream_st* stream) {
    configurations.push_back({grid, block, shared_bytes, stream});
    return 0;
}

SIMRT_EXPORT cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                                              size_t* shared_bytes, void* stream) {
    if (configurations.empty()) {
        return simrt::remember(cudaErrorMissingConfiguration);
    }
    const Configuration& top = configurations.back();
    *grid = top.grid;
    *block = top.block;
    *shared_bytes = top.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = top.stream;
    configurations.pop_back();
    return cudaSuccess;
}

SIMRT_EXPORT cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                      void** arguments, size_t shared_bytes,
                                                      cudaStream_t stream) {
    return launch_kernel(false, [&](const simrt::Driver& d) {
        return launch(d, reinterpret_cast<CUkernel>(kernel), grid, block, arguments, shared_bytes,
                      stream);
    });
}

SIMRT_EXPORT cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid,
                                                           dim3 block, void** arguments,
                                                           size_t shared_bytes,
                                                           cudaStream_t stream) {
    return launch_kernel(true, [&](const simrt::Driver& d) {
        return launch(d, reinterpret_cast<CUkernel>(kernel), grid, block, arguments, shared_bytes,
                      stream);
    });
}

RT_STREAM_API(cudaLaunchKernel, _ptsz, const void*, func, dim3, gridDim, dim3, blockDim, void**,
              args, size_t, sharedMem, cudaStream_t, stream) {
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    return launch(d, kernel, gridDim, blockDim, args, sharedMem, stream);
}

RT_STREAM_API(cudaLaunchKernelExC, _ptsz, const cudaLaunchConfig_t*, config, const void*, func,
              void**, args) {
    SIMRT_REQUIRE(config != nullptr);
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    const CUlaunchConfig driver = driver_config(*config);
    return from(d.cuLaunchKernelEx(&driver, as_function(kernel), args, nullptr));
}

RT_STREAM_API(cudaLaunchCooperativeKernel, _ptsz, const void*, func, dim3, gridDim, dim3, blockDim,
              void**, args, size_t, sharedMem, cudaStream_t, stream) {
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    return from(d.cuLaunchCooperativeKernel(as_function(kernel), gridDim.x, gridDim.y, gridDim.z,
                                            blockDim.x, blockDim.y, blockDim.z,
                                            static_cast<unsigned>(sharedMem), stream, args));
}

RT_API(cudaFuncGetAttributes, struct cudaFuncAttributes*, attr, const void*, func) {
    SIMRT_REQUIRE(attr != nullptr);
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    *attr = {};
    attr->sharedSizeBytes =
        static_cast<size_t>(attribute_of(d, kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    attr->maxThreadsPerBlock = attribute_of(d, kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attr->numRegs = attribute_of(d, kernel, CU_FUNC_ATTRIBUTE_NUM_REGS);
    attr->ptxVersion = attribute_of(d, kernel, CU_FUNC_ATTRIBUTE_PTX_VERSION);
    attr->binaryVersion = attribute_of(d, kernel, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    attr->maxDynamicSharedSizeBytes =
        attribute_of(d, kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    attr->preferredShmemCarveout =
        attribute_of(d, kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    return cudaSuccess;
}

RT_API(cudaFuncSetAttribute, const void*, func, enum cudaFuncAttribute, attr, int, value) {
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    return from(d.cuKernelSetAttribute(static_cast<CUfunction_attribute>(attr), value, kernel,
                                       simrt::current_device()));
}

RT_API(cudaFuncSetCacheConfig, const void*, func, enum cudaFuncCache, cacheConfig) {
    CUkernel kernel = nullptr;
    return simrt::kernel_of(d, func, kernel);
}

RT_API(cudaFuncGetName, const char**, name, const void*, func) {
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    return from(d.cuKernelGetName(name, kernel));
}

RT_API(cudaFuncGetParamInfo, const void*, func, size_t, paramIndex, size_t*, paramOffset, size_t*,
       paramSize) {
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    return from(d.cuKernelGetParamInfo(kernel, paramIndex, paramOffset, paramSize));
}

RT_API(cudaGetFuncBySymbol, cudaFunction_t*, functionPtr, const void*, symbolPtr) {
    SIMRT_REQUIRE(functionPtr != nullptr);
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, symbolPtr, kernel));
    return from(d.cuKernelGetFunction(functionPtr, kernel));
}

RT_API(cudaGetKernel, cudaKernel_t*, kernelPtr, const void*, entryFuncAddr) {
    SIMRT_REQUIRE(kernelPtr != nullptr);
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, entryFuncAddr, kernel));
    *kernelPtr = reinterpret_cast<cudaKernel_t>(kernel);
    return cudaSuccess;
}

RT_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int*, numBlocks, const void*, func, int,
       blockSize, size_t, dynamicSMemSize) {
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    return from(d.cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, as_function(kernel),
                                                              blockSize, dynamicSMemSize));
}

RT_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int*, numBlocks, const void*, func,
       int, blockSize, size_t, dynamicSMemSize, unsigned int, flags) {
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    return from(d.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, as_function(kernel), blockSize, dynamicSMemSize, flags));
}

RT_API(cudaOccupancyAvailableDynamicSMemPerBlock, size_t*, dynamicSmemSize, const void*, func, int,
       numBlocks, int, blockSize) {
    CUkernel kernel = nullptr;
    SIMRT_TRY(simrt::kernel_of(d, func, kernel));
    return from(d.cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, as_function(kernel),
                                                          numBlocks, blockSize));
}

RT_API(cudaLibraryLoadData, cudaLibrary_t*, library, const void*, code, enum cudaJitOption*,
       jitOptions, void**, jitOptionsValues, unsigned int, numJitOptions, enum cudaLibraryOption*,
       libraryOptions, void**, libraryOptionValues, unsigned int, numLibraryOptions) {
    return from(d.cuLibraryLoadData(reinterpret_cast<CUlibrary*>(library), code, nullptr, nullptr,
                                    0, nullptr, nullptr, 0));
}

RT_API(cudaLibraryLoadFromFile, cudaLibrary_t*, library, const char*, fileName, enum cudaJitOption*,
       jitOptions, void**, jitOptionsValues, unsigned int, numJitOptions, enum cudaLibraryOption*,
       libraryOptions, void**, libraryOptionValues, unsigned int, numLibraryOptions) {
    return from(d.cuLibraryLoadFromFile(reinterpret_cast<CUlibrary*>(library), fileName, nullptr,
                                        nullptr, 0, nullptr, nullptr, 0));
}

RT_API(cudaLibraryUnload, cudaLibrary_t, library) {
    return from(d.cuLibraryUnload(reinterpret_cast<CUlibrary>(library)));
}

RT_API(cudaLibraryGetKernel, cudaKernel_t*, pKernel, cudaLibrary_t, library, const char*, name) {
    return from(d.cuLibraryGetKernel(reinterpret_cast<CUkernel*>(pKernel),
                                     reinterpret_cast<CUlibrary>(library), name));
}

RT_API(cudaLibraryGetGlobal, void**, dptr, size_t*, bytes, cudaLibrary_t, library, const char*,
       name) {
    return from(d.cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(dptr), bytes,
                                     reinterpret_cast<CUlibrary>(library), name));
}

RT_API(cudaLibraryGetKernelCount, unsigned int*, count, cudaLibrary_t, lib) {
    return from(d.cuLibraryGetKernelCount(count, reinterpret_cast<CUlibrary>(lib)));
}

RT_API(cudaLibraryEnumerateKernels, cudaKernel_t*, kernels, unsigned int, numKernels, cudaLibrary_t,
       lib) {
    return from(d.cuLibraryEnumerateKernels(reinterpret_cast<CUkernel*>(kernels), numKernels,
                                            reinterpret_cast<CUlibrary>(lib)));
}
