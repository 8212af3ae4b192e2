// One of each: a race between two streams, a leak, and a use after free. Ordinary code otherwise.
#include "app.hpp"
#include "kernels.hpp"

// The input arrives on a stream of its own, so that the upload may overlap other work.
float* load_input(float* staging, cudaStream_t upload) {
    for (int i = 0; i < kCount; ++i) staging[i] = 1.0F;
    float* input;
    CHECK(cudaMalloc(&input, kBytes));                                               // RACE-ALLOC
    CHECK(cudaMemcpyAsync(input, staging, kBytes, cudaMemcpyHostToDevice, upload));  // RACE-FIRST
    return input;
}

// Every step takes a workspace and forgets it.
void smooth(float* data, cudaStream_t stream) {
    float* workspace;
    CHECK(cudaMalloc(&workspace, kBytes));  // LEAK-ALLOC
    copy_all<<<kGrid, kThreads, 0, stream>>>(data, workspace, kCount);
    copy_all<<<kGrid, kThreads, 0, stream>>>(workspace, data, kCount);
}

int main() {
    cudaStream_t upload, compute;
    CHECK(cudaStreamCreateWithFlags(&upload, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    float *staging, *result, *scratch;
    CHECK(cudaMallocHost(&staging, kBytes));
    CHECK(cudaMalloc(&result, kBytes));
    CHECK(cudaMalloc(&scratch, kBytes));  // FREED-ALLOC

    float* input = load_input(staging, upload);
    copy_all<<<kGrid, kThreads, 0, compute>>>(input, result, kCount);  // RACE-SECOND
    for (int step = 0; step < 3; ++step) smooth(result, compute);
    CHECK(cudaStreamSynchronize(compute));

    CHECK(cudaFree(scratch));                              // FREED-FREE
    add_one<<<kGrid, kThreads, 0, compute>>>(scratch, 0);  // FREED-USE
    const int status = finish({input, result}, {staging});
    CHECK(cudaStreamDestroy(upload));
    CHECK(cudaStreamDestroy(compute));
    return status;
}
