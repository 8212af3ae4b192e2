// The driver's 3D copies, within a context and between contexts, touch their boxes and no more.
#include "driver_app.hpp"

int main() {
    use_primary_context();
    CUcontext context;
    CUstream upper, lower;
    CUdeviceptr volume, source;
    const std::size_t pitch = 512, height = 64, depth = 8;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuStreamCreate(&upper, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&lower, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&volume, pitch * height * depth));  // ALLOC
    CHECK(cuMemAlloc(&source, pitch * height * depth));

    CUDA_MEMCPY3D first{};
    first.srcMemoryType = first.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    first.srcDevice = source;
    first.dstDevice = volume;
    first.srcPitch = first.dstPitch = pitch;
    first.srcHeight = first.dstHeight = height;
    first.WidthInBytes = 300;
    first.Depth = depth;
#ifdef FIXED
    first.Height = height / 2;
#else
    first.Height = height / 2 + 1;
#endif
    CUDA_MEMCPY3D_PEER second{};
    second.srcMemoryType = second.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    second.srcContext = second.dstContext = context;
    second.srcDevice = source;
    second.dstDevice = volume;
    second.dstY = height / 2;
    second.srcPitch = second.dstPitch = pitch;
    second.srcHeight = second.dstHeight = height;
    second.WidthInBytes = 300;
    second.Height = height / 2;
    second.Depth = depth;
    CHECK(cuMemcpy3DAsync(&first, upper));       // FIRST
    CHECK(cuMemcpy3DPeerAsync(&second, lower));  // SECOND

    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(volume));
    CHECK(cuMemFree(source));
    CHECK(cuStreamDestroy(upper));
    CHECK(cuStreamDestroy(lower));
    std::puts("done");
    return 0;
}
