#pragma once

#include "runtime.hpp"

// The runtime's descriptions in terms of the driver's.
namespace simrt {

CUDA_ARRAY3D_DESCRIPTOR array_descriptor(const cudaChannelFormatDesc& channel, cudaExtent extent,
                                         unsigned flags);
cudaChannelFormatDesc channel_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor);
cudaError_t make_array(const Driver& driver, cudaArray_t* array,
                       const cudaChannelFormatDesc& channel, cudaExtent extent, unsigned flags);

// Where a copy of this kind reads and writes.
struct Types {
    CUmemorytype source;
    CUmemorytype target;
};
Types types_of(cudaMemcpyKind kind);

CUDA_MEMCPY2D flat_copy(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                        size_t width, size_t height, cudaMemcpyKind kind);
void from_array(CUDA_MEMCPY2D& copy, cudaArray_const_t array, size_t x, size_t y);
void to_array(CUDA_MEMCPY2D& copy, cudaArray_t array, size_t x, size_t y);
cudaError_t deep_copy(const Driver& driver, const cudaMemcpy3DParms& parms, CUDA_MEMCPY3D& copy);
CUDA_MEMCPY3D linear_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);

}  // namespace simrt
