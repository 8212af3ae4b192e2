#include <algorithm>

#include "body.hpp"

using namespace simgpu;

namespace {

struct Shape {
    Dim grid;
    Dim block;
    unsigned shared_bytes;
};

CUresult check(const Shape& shape) {
    const Dim& grid = shape.grid;
    const Dim& block = shape.block;
    SIM_REQUIRE(grid.x != 0 && grid.y != 0 && grid.z != 0);
    SIM_REQUIRE(block.x != 0 && block.y != 0 && block.z != 0);
    SIM_REQUIRE(uint64_t{block.x} * block.y * block.z <= 1024 && block.z <= 64);
    SIM_REQUIRE(grid.x <= 2147483647U && grid.y <= 65535 && grid.z <= 65535);
    SIM_REQUIRE(shape.shared_bytes <= 232448);
    return CUDA_SUCCESS;
}

CUresult launch_kernel(CUfunction function, const Shape& shape, CUstream handle,
                       void* const* parameters, void* const* extra, const Call& call) {
    CodeHandle* code = CodeHandle::from(function);
    if (code == nullptr) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(handle, call.per_thread, stream));
    SIM_TRY(check(shape));
    // Programming guide, multi-device: a launch to a stream of another device fails.
    if (stream->context().device() != current_context()->device()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    SIM_TRY(prepare_launch(*code, stream->context()));
    if (parameters == nullptr && extra == nullptr && !code->info->parameters.empty()) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (stream->capture == nullptr && code->twin == nullptr) {
        // Nothing will look at the parameters: the operation is only a duration.
        SIM_TRY(check_legacy_capture(*stream));
        Operation operation;
        operation.duration_ns = code->duration_ns() + call.api.delay_ns;
        stream->issue(std::move(operation));
        return CUDA_SUCCESS;
    }
    KernelTask task;
    task.code = code;
    task.grid = shape.grid;
    task.block = shape.block;
    task.shared_bytes = shape.shared_bytes;
    SIM_TRY(task.take_parameters(parameters, extra));
    return submit(*stream, std::move(task), call.api.delay_ns);
}

}  // namespace

SIM_STREAM_API(cuLaunchKernel, , 4000, _ptsz, CUfunction, f, unsigned int, gridDimX, unsigned int,
               gridDimY, unsigned int, gridDimZ, unsigned int, blockDimX, unsigned int, blockDimY,
               unsigned int, blockDimZ, unsigned int, sharedMemBytes, CUstream, hStream, void**,
               kernelParams, void**, extra) {
    return launch_kernel(
        f, {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes},
        hStream, kernelParams, extra, call);
}

SIM_STREAM_API(cuLaunchKernelEx, , 11060, _ptsz, const CUlaunchConfig*, config, CUfunction, f,
               void**, kernelParams, void**, extra) {
    SIM_REQUIRE(config != nullptr);
    return launch_kernel(f,
                         {{config->gridDimX, config->gridDimY, config->gridDimZ},
                          {config->blockDimX, config->blockDimY, config->blockDimZ},
                          config->sharedMemBytes},
                         config->hStream, kernelParams, extra, call);
}

SIM_STREAM_API(cuLaunchCooperativeKernel, , 9000, _ptsz, CUfunction, f, unsigned int, gridDimX,
               unsigned int, gridDimY, unsigned int, gridDimZ, unsigned int, blockDimX,
               unsigned int, blockDimY, unsigned int, blockDimZ, unsigned int, sharedMemBytes,
               CUstream, hStream, void**, kernelParams) {
    return launch_kernel(
        f, {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes},
        hStream, kernelParams, nullptr, call);
}
