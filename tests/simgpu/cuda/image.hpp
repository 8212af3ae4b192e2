#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// A program's machine code as far as the simulation needs it: which kernels there are, how their
// parameters are laid out, which global variables they have.
namespace simgpu {

struct KernelParameter {
    size_t offset = 0;
    size_t size = 0;
};

struct KernelInfo {
    std::string name;  // mangled
    std::vector<KernelParameter> parameters;
    size_t parameter_bytes = 0;
    size_t code_bytes = 0;
    size_t static_shared_bytes = 0;
    int registers = 0;
};

struct GlobalInfo {
    std::string name;
    size_t size = 0;
    std::vector<std::byte> initial;  // empty: zeros
};

struct Image {
    std::vector<KernelInfo> kernels;
    std::vector<GlobalInfo> globals;
    std::vector<std::byte> cubin;
};

// The machine-code files inside a fat binary wrapper, a fat binary or a cubin, decompressed.
// Nothing for anything else (PTX text included).
struct CubinFile {
    unsigned architecture = 0;  // 75, 90, …; 0 when unknown
    std::vector<std::byte> bytes;
};
std::vector<CubinFile> cubins_in(const void* code);

std::optional<Image> read_cubin(std::span<const std::byte> cubin);

// The image a device of compute capability 9.0 would load. An image of an older architecture is
// taken when there is no better one: nothing here executes the code.
std::shared_ptr<const Image> load_image(const void* code);

}  // namespace simgpu
