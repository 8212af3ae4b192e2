#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "body.hpp"

using namespace simgpu;

namespace {

Module* module_of(CUmodule handle) {
    return reinterpret_cast<Module*>(handle);
}
CUmodule handle_of(Module& module) {
    return reinterpret_cast<CUmodule>(&module);
}
Library* library_of(CUlibrary handle) {
    return reinterpret_cast<Library*>(handle);
}

CUresult load_here(CUmodule* out, const void* image) {
    SIM_REQUIRE(out != nullptr && image != nullptr);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_TRY(forbid_in_capture(*context));
    Module* module = nullptr;
    SIM_TRY(load_module(*context, image, module));
    *out = handle_of(*module);
    return CUDA_SUCCESS;
}

CUresult read_file(const char* name, std::vector<char>& contents) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    contents.assign(std::istreambuf_iterator<char>(file), {});
    // So that looking for a header never reads past the end of a short file.
    contents.resize(contents.size() + 64);
    return CUDA_SUCCESS;
}

CUresult global_in(Module& module, const char* name, CUdeviceptr* address, size_t* bytes) {
    const auto it = module.globals.find(name);
    if (it == module.globals.end()) {
        return CUDA_ERROR_NOT_FOUND;
    }
    if (address != nullptr) {
        *address = it->second.address;
    }
    if (bytes != nullptr) {
        *bytes = it->second.size;
    }
    return CUDA_SUCCESS;
}

CUresult require_function(CUfunction handle, CodeHandle*& code) {
    code = CodeHandle::from(handle);
    return code != nullptr && code->is_function() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult require_kernel(CUkernel handle, CodeHandle*& code) {
    code = CodeHandle::from(handle);
    return code != nullptr && code->is_kernel() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// cudart passes kernels where functions are declared; the real driver takes both in these.
CUresult require_either(const void* handle, CodeHandle*& code) {
    code = CodeHandle::from(handle);
    return code != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

int attribute_of(const CodeHandle& code, CUfunction_attribute attribute) {
    if (const auto set = code.attributes.find(attribute); set != code.attributes.end()) {
        return set->second;
    }
    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            return 1024;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
            return static_cast<int>(code.info->static_shared_bytes);
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
            return code.info->registers != 0 ? code.info->registers : 32;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
            return 90;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            return 49152 - static_cast<int>(code.info->static_shared_bytes);
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            return -1;
        default:
            return 0;
    }
}

CUresult parameter_of(const CodeHandle& code, size_t index, size_t* offset, size_t* size) {
    SIM_REQUIRE(offset != nullptr && index < code.info->parameters.size());
    *offset = code.info->parameters[index].offset;
    if (size != nullptr) {
        *size = code.info->parameters[index].size;
    }
    return CUDA_SUCCESS;
}

int resident_blocks(int block_size) {
    return std::min(32, 2048 / std::max(1, block_size));
}

}  // namespace

SIM_API(cuModuleLoadData, , 2000, CUmodule*, module, const void*, image) {
    return load_here(module, image);
}

SIM_API(cuModuleLoadDataEx, , 2010, CUmodule*, module, const void*, image, unsigned int, numOptions,
        CUjit_option*, options, void**, optionValues) {
    return load_here(module, image);
}

SIM_API(cuModuleLoadFatBinary, , 2000, CUmodule*, module, const void*, fatCubin) {
    return load_here(module, fatCubin);
}

SIM_API(cuModuleLoad, , 2000, CUmodule*, module, const char*, fname) {
    SIM_REQUIRE(fname != nullptr);
    std::vector<char> contents;
    SIM_TRY(read_file(fname, contents));
    return load_here(module, contents.data());
}

SIM_API(cuModuleUnload, , 2000, CUmodule, hmod) {
    SIM_REQUIRE(hmod != nullptr);
    return unload_module(*module_of(hmod));
}

SIM_API(cuModuleGetLoadingMode, , 11070, CUmoduleLoadingMode*, mode) {
    SIM_REQUIRE(mode != nullptr);
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunction, , 2000, CUfunction*, hfunc, CUmodule, hmod, const char*, name) {
    SIM_REQUIRE(hfunc != nullptr && hmod != nullptr && name != nullptr);
    Module& from = *module_of(hmod);
    const auto it = from.functions.find(name);
    if (it == from.functions.end()) {
        return CUDA_ERROR_NOT_FOUND;
    }
    *hfunc = reinterpret_cast<CUfunction>(it->second.get());
    return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunctionCount, , 12040, unsigned int*, count, CUmodule, mod) {
    SIM_REQUIRE(count != nullptr && mod != nullptr);
    *count = static_cast<unsigned>(module_of(mod)->functions.size());
    return CUDA_SUCCESS;
}

SIM_API(cuModuleEnumerateFunctions, , 12040, CUfunction*, functions, unsigned int, numFunctions,
        CUmodule, mod) {
    SIM_REQUIRE(functions != nullptr && mod != nullptr);
    unsigned index = 0;
    for (const auto& [name, function] : module_of(mod)->functions) {
        if (index == numFunctions) {
            break;
        }
        functions[index++] = reinterpret_cast<CUfunction>(function.get());
    }
    return CUDA_SUCCESS;
}

SIM_API(cuModuleGetGlobal, _v2, 3020, CUdeviceptr*, dptr, size_t*, bytes, CUmodule, hmod,
        const char*, name) {
    SIM_REQUIRE(hmod != nullptr && name != nullptr);
    return global_in(*module_of(hmod), name, dptr, bytes);
}

SIM_API(cuLibraryLoadData, , 12000, CUlibrary*, library, const void*, code, CUjit_option*,
        jitOptions, void**, jitOptionsValues, unsigned int, numJitOptions, CUlibraryOption*,
        libraryOptions, void**, libraryOptionValues, unsigned int, numLibraryOptions) {
    SIM_REQUIRE(library != nullptr && code != nullptr);
    Library* loaded = nullptr;
    SIM_TRY(load_library(code, loaded));
    *library = reinterpret_cast<CUlibrary>(loaded);
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryLoadFromFile, , 12000, CUlibrary*, library, const char*, fileName, CUjit_option*,
        jitOptions, void**, jitOptionsValues, unsigned int, numJitOptions, CUlibraryOption*,
        libraryOptions, void**, libraryOptionValues, unsigned int, numLibraryOptions) {
    SIM_REQUIRE(library != nullptr && fileName != nullptr);
    std::vector<char> contents;
    SIM_TRY(read_file(fileName, contents));
    Library* loaded = nullptr;
    SIM_TRY(load_library(contents.data(), loaded));
    *library = reinterpret_cast<CUlibrary>(loaded);
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryUnload, , 12000, CUlibrary, library) {
    SIM_REQUIRE(library != nullptr);
    return unload_library(*library_of(library));
}

SIM_API(cuLibraryGetKernel, , 12000, CUkernel*, pKernel, CUlibrary, library, const char*, name) {
    SIM_REQUIRE(pKernel != nullptr && library != nullptr && name != nullptr);
    Library& from = *library_of(library);
    const auto it = from.kernels.find(name);
    if (it == from.kernels.end()) {
        return CUDA_ERROR_NOT_FOUND;
    }
    *pKernel = reinterpret_cast<CUkernel>(it->second.get());
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetKernelCount, , 12040, unsigned int*, count, CUlibrary, lib) {
    SIM_REQUIRE(count != nullptr && lib != nullptr);
    *count = static_cast<unsigned>(library_of(lib)->kernels.size());
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryEnumerateKernels, , 12040, CUkernel*, kernels, unsigned int, numKernels, CUlibrary,
        lib) {
    SIM_REQUIRE(kernels != nullptr && lib != nullptr);
    unsigned index = 0;
    for (const auto& [name, kernel] : library_of(lib)->kernels) {
        if (index == numKernels) {
            break;
        }
        kernels[index++] = reinterpret_cast<CUkernel>(kernel.get());
    }
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetModule, , 12000, CUmodule*, pMod, CUlibrary, library) {
    SIM_REQUIRE(pMod != nullptr && library != nullptr);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    Module* module = nullptr;
    SIM_TRY(library_module(*library_of(library), *context, module));
    *pMod = handle_of(*module);
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetGlobal, , 12000, CUdeviceptr*, dptr, size_t*, bytes, CUlibrary, library,
        const char*, name) {
    SIM_REQUIRE(library != nullptr && name != nullptr);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    Module* module = nullptr;
    SIM_TRY(library_module(*library_of(library), *context, module));
    return global_in(*module, name, dptr, bytes);
}

SIM_API(cuKernelGetFunction, , 12000, CUfunction*, pFunc, CUkernel, kernel) {
    SIM_REQUIRE(pFunc != nullptr);
    CodeHandle* code = nullptr;
    SIM_TRY(require_kernel(kernel, code));
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    CodeHandle* function = nullptr;
    SIM_TRY(kernel_function(*code, *context, function));
    *pFunc = reinterpret_cast<CUfunction>(function);
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetLibrary, , 12050, CUlibrary*, pLib, CUkernel, kernel) {
    SIM_REQUIRE(pLib != nullptr);
    CodeHandle* code = nullptr;
    SIM_TRY(require_kernel(kernel, code));
    *pLib = reinterpret_cast<CUlibrary>(code->library);
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetName, , 12030, const char**, name, CUkernel, hfunc) {
    SIM_REQUIRE(name != nullptr);
    CodeHandle* code = nullptr;
    SIM_TRY(require_kernel(hfunc, code));
    *name = code->info->name.c_str();
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetParamInfo, , 12040, CUkernel, kernel, size_t, paramIndex, size_t*, paramOffset,
        size_t*, paramSize) {
    CodeHandle* code = nullptr;
    SIM_TRY(require_kernel(kernel, code));
    return parameter_of(*code, paramIndex, paramOffset, paramSize);
}

SIM_API(cuKernelGetAttribute, , 12000, int*, pi, CUfunction_attribute, attrib, CUkernel, kernel,
        CUdevice, dev) {
    SIM_REQUIRE(pi != nullptr);
    CodeHandle* code = nullptr;
    SIM_TRY(require_kernel(kernel, code));
    *pi = attribute_of(*code, attrib);
    return CUDA_SUCCESS;
}

SIM_API(cuKernelSetAttribute, , 12000, CUfunction_attribute, attrib, int, val, CUkernel, kernel,
        CUdevice, dev) {
    CodeHandle* code = nullptr;
    SIM_TRY(require_kernel(kernel, code));
    code->attributes[attrib] = val;
    return CUDA_SUCCESS;
}

SIM_API(cuKernelSetCacheConfig, , 12000, CUkernel, kernel, CUfunc_cache, config, CUdevice, dev) {
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetName, , 12030, const char**, name, CUfunction, hfunc) {
    SIM_REQUIRE(name != nullptr);
    CodeHandle* code = nullptr;
    SIM_TRY(require_function(hfunc, code));
    *name = code->info->name.c_str();
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetModule, , 11000, CUmodule*, hmod, CUfunction, hfunc) {
    SIM_REQUIRE(hmod != nullptr);
    CodeHandle* code = nullptr;
    SIM_TRY(require_function(hfunc, code));
    *hmod = handle_of(*code->module);
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetParamInfo, , 12040, CUfunction, func, size_t, paramIndex, size_t*, paramOffset,
        size_t*, paramSize) {
    CodeHandle* code = nullptr;
    SIM_TRY(require_function(func, code));
    return parameter_of(*code, paramIndex, paramOffset, paramSize);
}

SIM_API(cuFuncGetAttribute, , 2020, int*, pi, CUfunction_attribute, attrib, CUfunction, hfunc) {
    SIM_REQUIRE(pi != nullptr);
    CodeHandle* code = nullptr;
    SIM_TRY(require_either(hfunc, code));
    *pi = attribute_of(*code, attrib);
    return CUDA_SUCCESS;
}

SIM_API(cuFuncSetAttribute, , 9000, CUfunction, hfunc, CUfunction_attribute, attrib, int, value) {
    CodeHandle* code = nullptr;
    SIM_TRY(require_either(hfunc, code));
    code->attributes[attrib] = value;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncSetCacheConfig, , 3000, CUfunction, hfunc, CUfunc_cache, config) {
    return CUDA_SUCCESS;
}

SIM_API(cuFuncIsLoaded, , 12040, CUfunctionLoadingState*, state, CUfunction, function) {
    SIM_REQUIRE(state != nullptr);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncLoad, , 12040, CUfunction, function) {
    return CUDA_SUCCESS;
}

SIM_API(cuOccupancyMaxActiveBlocksPerMultiprocessor, , 6050, int*, numBlocks, CUfunction, func, int,
        blockSize, size_t, dynamicSMemSize) {
    SIM_REQUIRE(numBlocks != nullptr && blockSize > 0);
    *numBlocks = resident_blocks(blockSize);
    return CUDA_SUCCESS;
}

SIM_API(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, , 7000, int*, numBlocks, CUfunction,
        func, int, blockSize, size_t, dynamicSMemSize, unsigned int, flags) {
    SIM_REQUIRE(numBlocks != nullptr && blockSize > 0);
    *numBlocks = resident_blocks(blockSize);
    return CUDA_SUCCESS;
}

SIM_API(cuOccupancyMaxPotentialBlockSize, , 6050, int*, minGridSize, int*, blockSize, CUfunction,
        func, CUoccupancyB2DSize, blockSizeToDynamicSMemSize, size_t, dynamicSMemSize, int,
        blockSizeLimit) {
    SIM_REQUIRE(minGridSize != nullptr && blockSize != nullptr);
    *blockSize = blockSizeLimit > 0 ? std::min(blockSizeLimit, 1024) : 1024;
    *minGridSize = 132 * resident_blocks(*blockSize);
    return CUDA_SUCCESS;
}

SIM_API(cuOccupancyMaxPotentialBlockSizeWithFlags, , 7000, int*, minGridSize, int*, blockSize,
        CUfunction, func, CUoccupancyB2DSize, blockSizeToDynamicSMemSize, size_t, dynamicSMemSize,
        int, blockSizeLimit, unsigned int, flags) {
    SIM_REQUIRE(minGridSize != nullptr && blockSize != nullptr);
    *blockSize = blockSizeLimit > 0 ? std::min(blockSizeLimit, 1024) : 1024;
    *minGridSize = 132 * resident_blocks(*blockSize);
    return CUDA_SUCCESS;
}

SIM_API(cuOccupancyAvailableDynamicSMemPerBlock, , 10020, size_t*, dynamicSmemSize, CUfunction,
        func, int, numBlocks, int, blockSize) {
    SIM_REQUIRE(dynamicSmemSize != nullptr && numBlocks > 0);
    *dynamicSmemSize = static_cast<size_t>(233472 / numBlocks);
    return CUDA_SUCCESS;
}
