#include "module.hpp"

#include <cstring>

#include "../handle.hpp"
#include "api.hpp"
#include "callbacks.hpp"
#include "config.hpp"
#include "context.hpp"

namespace simgpu {
namespace {

std::atomic<uint32_t> next_module_id{1};

std::unique_ptr<CodeHandle> make_handle(uint64_t magic, const KernelInfo& info, Library* library,
                                        Module* module) {
    auto handle = std::make_unique<CodeHandle>();
    handle->magic = magic;
    handle->info = &info;
    handle->library = library;
    handle->module = module;
    handle->twin = find_twin(info.name);
    return handle;
}

CUresult place_globals(Module& module) {
    for (const GlobalInfo& info : module.image->globals) {
        uintptr_t address = 0;
        const CUresult result =
            allocate_device(*module.context, info.size, MemoryKind::Device, address);
        if (result != CUDA_SUCCESS) {
            return result;
        }
        if (info.initial.empty()) {
            std::memset(reinterpret_cast<void*>(address), 0, info.size);
        } else {
            std::memcpy(reinterpret_cast<void*>(address), info.initial.data(), info.size);
        }
        module.globals[info.name] = {address, info.size};
    }
    return CUDA_SUCCESS;
}

CUresult make_module(Context& context, std::shared_ptr<const Image> image, Library* library,
                     Module*& module) {
    module = new_handle<Module>();  // kept after unloading, so that a stale handle is recognised
    module->image = std::move(image);
    module->context = &context;
    module->library = library;
    module->id = next_module_id.fetch_add(1);
    const CUresult result = place_globals(*module);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    for (const KernelInfo& kernel : module->image->kernels) {
        module->functions[kernel.name] =
            make_handle(CodeHandle::function_magic, kernel, library, module);
    }
    CUpti_ModuleResourceData data{};
    data.moduleId = module->id;
    data.cubinSize = module->image->cubin.size();
    data.pCubin = reinterpret_cast<const char*>(module->image->cubin.data());
    notify_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, context.handle(), nullptr, &data);
    return CUDA_SUCCESS;
}

}  // namespace

uint64_t CodeHandle::duration_ns() const {
    const uint32_t now = config().generation;
    if (cached_generation.load(std::memory_order_acquire) != now) {
        cached_ns.store(kernel_delay(info->name), std::memory_order_relaxed);
        cached_generation.store(now, std::memory_order_release);
    }
    return cached_ns.load(std::memory_order_relaxed);
}

CUresult load_module(Context& context, const void* code, Module*& module) {
    std::shared_ptr<const Image> image = load_image(code);
    if (!image) {
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    // Measured: loading and unloading code waits for the device.
    synchronize_device(context.device());
    return make_module(context, std::move(image), nullptr, module);
}

CUresult unload_module(Module& module) {
    if (!module.loaded) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    synchronize_device(module.context->device());
    CUpti_ModuleResourceData data{};
    data.moduleId = module.id;
    data.cubinSize = module.image->cubin.size();
    data.pCubin = reinterpret_cast<const char*>(module.image->cubin.data());
    notify_resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, module.context->handle(), nullptr,
                    &data);
    module.loaded = false;
    for (const auto& [name, global] : module.globals) {
        if (const auto allocation = find_allocation(global.address)) {
            release(*allocation);
        }
    }
    module.globals.clear();
    return CUDA_SUCCESS;
}

CUresult load_library(const void* code, Library*& library) {
    std::shared_ptr<const Image> image = load_image(code);
    if (!image) {
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    library = new_handle<Library>();
    library->image = std::move(image);
    for (const KernelInfo& kernel : library->image->kernels) {
        library->kernels[kernel.name] =
            make_handle(CodeHandle::kernel_magic, kernel, library, nullptr);
    }
    return CUDA_SUCCESS;
}

CUresult unload_library(Library& library) {
    const std::lock_guard lock(library.mutex);
    if (!library.loaded) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    library.loaded = false;
    for (const auto& [key, module] : library.modules) {
        if (key.first->alive() && key.first->uid() == key.second) {
            unload_module(*module);
        }
    }
    return CUDA_SUCCESS;
}

CUresult library_module(Library& library, Context& context, Module*& module) {
    const std::lock_guard lock(library.mutex);
    Module*& mine = library.modules[{&context, context.uid()}];
    if (mine == nullptr) {
        const CUresult result = make_module(context, library.image, &library, mine);
        if (result != CUDA_SUCCESS) {
            return result;
        }
    }
    module = mine;
    return CUDA_SUCCESS;
}

CUresult kernel_function(CodeHandle& kernel, Context& context, CodeHandle*& function) {
    Module* module = nullptr;
    const CUresult result = library_module(*kernel.library, context, module);
    if (result == CUDA_SUCCESS) {
        function = module->functions.find(kernel.info->name)->second.get();
    }
    return result;
}

CUresult prepare_launch(CodeHandle& code, Context& context) {
    if (!code.is_kernel()) {
        return CUDA_SUCCESS;
    }
    // The last context a thread prepared a kernel for is by far the likeliest next one.
    thread_local const CodeHandle* last_code = nullptr;
    thread_local uint32_t last_context = 0;
    if (last_code == &code && last_context == context.uid()) {
        return CUDA_SUCCESS;
    }
    Module* module = nullptr;
    const CUresult result = library_module(*code.library, context, module);
    if (result == CUDA_SUCCESS) {
        last_code = &code;
        last_context = context.uid();
    }
    return result;
}

const char* kernel_symbol(CUfunction function) {
    const CodeHandle* code = CodeHandle::from(function);
    return code != nullptr ? code->info->name.c_str() : nullptr;
}

}  // namespace simgpu
