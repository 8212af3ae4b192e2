// A 3D copy touches its box, not the hull: disjoint boxes of one volume do not race.
#include "app.hpp"

namespace {

cudaMemcpy3DParms upload(cudaPitchedPtr volume, cudaPos at, char* source, cudaExtent box) {
    cudaMemcpy3DParms parameters{};
    parameters.srcPtr = make_cudaPitchedPtr(source, box.width, box.width, box.height);
    parameters.dstPtr = volume;
    parameters.dstPos = at;
    parameters.extent = box;
    parameters.kind = cudaMemcpyHostToDevice;
    return parameters;
}

}  // namespace

int main() {
    Stream left, right;
    const std::size_t width = 256, height = 32, depth = 8;
    cudaPitchedPtr volume;
    char* source;
    CHECK(cudaMalloc3D(&volume, make_cudaExtent(width, height, depth)));  // ALLOC
    CHECK(cudaMallocHost(&source, width * height * depth));
#ifdef FIXED
    const std::size_t left_width = width / 2;
#else
    const std::size_t left_width = width / 2 + 1;
#endif
    // Rows 4 to 20 of slices 1 to 7, and above their right half the slice that the hull of the left
    // one reaches into as well.
    const auto first =
        upload(volume, make_cudaPos(0, 4, 1), source, make_cudaExtent(left_width, 16, 6));
    const auto second =
        upload(volume, make_cudaPos(width / 2, 19, 6), source, make_cudaExtent(width / 2, 8, 2));
    CHECK(cudaMemcpy3DAsync(&first, left));    // FIRST
    CHECK(cudaMemcpy3DAsync(&second, right));  // SECOND
    return finish({volume.ptr}, {source});
}
