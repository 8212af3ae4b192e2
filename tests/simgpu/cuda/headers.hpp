#pragma once

// The driver's own implementation view of cuda.h: no renaming macros, every versioned and
// per-thread entry point declared.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_result.h>
#include <generated_cuda_meta.h>
