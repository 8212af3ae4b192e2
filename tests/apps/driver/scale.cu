// What the programs on the driver API load: a kernel and a variable.
__device__ float factors[1024];

__global__ void scale(float* data, int count, float factor) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] = data[i] * factor;
}
