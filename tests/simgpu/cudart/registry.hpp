#pragma once

#include <string>

#include "runtime.hpp"

// What the compiler's start-up code registers: fat binaries, and the host symbols that stand for
// their kernels and variables. Code is loaded when something in it is first used.
namespace simrt {

cudaError_t kernel_of(const Driver& driver, const void* host_function, CUkernel& kernel);

struct Symbol {
    CUdeviceptr address = 0;
    size_t size = 0;
};
cudaError_t symbol_of(const Driver& driver, const void* host_variable, Symbol& symbol);

}  // namespace simrt
