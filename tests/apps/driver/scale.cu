// The kernel that driver_launch.cpp loads.
__global__ void scale(float* data, int count, float factor) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] = data[i] * factor;
}
