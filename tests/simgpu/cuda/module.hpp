#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../twin.hpp"
#include "image.hpp"
#include "memory.hpp"

// Code: a library is context-independent and has kernels (CUkernel); a module is code in one
// context and has functions (CUfunction). The two handles are different objects, as in the real
// driver, and functions that take one refuse the other; a launch takes either.
namespace simgpu {

struct Library;
struct Module;

struct CodeHandle {
    static constexpr uint64_t kernel_magic = 0x6c656e72656b4753;
    static constexpr uint64_t function_magic = 0x636e75666b4753;

    uint64_t magic = 0;
    const KernelInfo* info = nullptr;
    Library* library = nullptr;  // of a kernel, or the library whose module this function is in
    Module* module = nullptr;    // of a function
    Twin twin = nullptr;
    // As the environment last said; looked up again when it has been read anew.
    mutable std::atomic<uint64_t> cached_ns{0};
    mutable std::atomic<uint32_t> cached_generation{0};
    std::map<CUfunction_attribute, int> attributes;

    uint64_t duration_ns() const;
    bool is_kernel() const { return magic == kernel_magic; }
    bool is_function() const { return magic == function_magic; }
    static CodeHandle* from(const void* handle) {
        auto* code = static_cast<CodeHandle*>(const_cast<void*>(handle));
        return code != nullptr && (code->is_kernel() || code->is_function()) ? code : nullptr;
    }
};

struct Global {
    CUdeviceptr address = 0;
    size_t size = 0;
};

struct Module {
    std::shared_ptr<const Image> image;
    Context* context = nullptr;
    Library* library = nullptr;
    std::map<std::string, std::unique_ptr<CodeHandle>, std::less<>> functions;
    std::map<std::string, Global, std::less<>> globals;
    uint32_t id = 0;
    bool loaded = true;
};

struct Library {
    std::shared_ptr<const Image> image;
    std::mutex mutex;
    std::map<std::string, std::unique_ptr<CodeHandle>, std::less<>> kernels;
    std::map<std::pair<Context*, uint32_t>, Module*> modules;  // by context and its uid
    bool loaded = true;
};

CUresult load_module(Context& context, const void* code, Module*& module);
CUresult unload_module(Module& module);
CUresult load_library(const void* code, Library*& library);
CUresult unload_library(Library& library);
CUresult library_module(Library& library, Context& context, Module*& module);
CUresult kernel_function(CodeHandle& kernel, Context& context, CodeHandle*& function);
// Loads the kernel's code into the context if this is its first use there.
CUresult prepare_launch(CodeHandle& code, Context& context);

void set_twin(const char* kernel, Twin twin);
Twin find_twin(const std::string& kernel);

}  // namespace simgpu
