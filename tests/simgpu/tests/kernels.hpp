#pragma once

#include <cuda_runtime_api.h>

// The tests' kernels, behind functions so that the tests themselves are plain C++.
namespace kernels {

// A kernel that occupies its stream until the gate is opened: "is the host waiting?" then needs no
// clock.
void close_gate();
void open_gate();
void await_entry();
void launch_gate(cudaStream_t stream);

void launch_add(cudaStream_t stream, int* to, const int* from, int value, int count);
void launch_triple(cudaStream_t stream, int* data, int count);
void launch_without_twin(cudaStream_t stream, int* data);

const void* add_function();
const void* counters_symbol();
const void* factors_symbol();

}  // namespace kernels
