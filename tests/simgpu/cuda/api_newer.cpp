// A function such as a newer driver has: no toolkit's header knows it, CUPTI has a number for it.
#include "../newer_function.hpp"
#include "body.hpp"

namespace {

constexpr auto CUPTI_DRIVER_TRACE_CBID_cuSimgpuNewer = simgpu::newer_function;

}  // namespace

SIM_EXPORT CUresult cuSimgpuNewer();

SIM_API_NO_PARAMS(cuSimgpuNewer, , 12000) {
    return CUDA_SUCCESS;
}
