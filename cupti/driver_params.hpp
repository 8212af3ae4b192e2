// The parameter structs of all driver functions, and their numbers, as CUPTI describes them.
#pragma once

#include <cuda.h>
#include <cupti_driver_cbid.h>

#include <cstddef>

// The structs of entry points from before CUDA 3.2, which nobody decodes, name types that cuda.h no
// longer shows.
using CUdeviceptr_v1 = unsigned int;
struct CUDA_MEMCPY2D_v1;
struct CUDA_MEMCPY3D_v1;
struct CUDA_ARRAY_DESCRIPTOR_v1;
struct CUDA_ARRAY3D_DESCRIPTOR_v1;

#include <generated_cuda_meta.h>

// Functions without parameters have no struct there.
struct cuCtxSynchronize_params {};
