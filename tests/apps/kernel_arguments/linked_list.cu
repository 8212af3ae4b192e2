// What a linked structure leads to may be touched by a kernel that is given its head. How it uses
// that is unknown, so it is a possible race.
#include "app.hpp"
#include "kernels.hpp"

struct Node {
    Node* next;
    float* data;
};

__global__ void scale_list(const Node* head, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    for (const Node* node = head; node != nullptr && i < count; node = node->next)
        node->data[i] *= 2.0F;
}
SIMGPU_TWIN(scale_list, [](const simgpu::Launch&, const Node* head, int count) {
    for (const Node* node = head; node != nullptr; node = node->next)
        for (int i = 0; i < count; ++i) node->data[i] *= 2.0F;
});

int main() {
    Stream filling, scaling;
    Node* nodes[2];
    float* data[2];
    for (Node*& node : nodes) CHECK(cudaMalloc(&node, sizeof(Node)));
    for (float*& block : data) CHECK(cudaMalloc(&block, kBytes));  // ALLOC
    for (int i = 0; i < 2; ++i) {
        const Node node{i == 0 ? nodes[1] : nullptr, data[i]};
        CHECK(cudaMemcpy(nodes[i], &node, sizeof node, cudaMemcpyHostToDevice));
    }
    CHECK(cudaDeviceSynchronize());

    fill<<<kGrid, kThreads, 0, filling>>>(data[1], kCount, 1.0F);  // FIRST
#ifdef FIXED
    order(filling, scaling);
#endif
    scale_list<<<kGrid, kThreads, 0, scaling>>>(nodes[0], kCount);  // SECOND
    return finish({data[0], data[1], nodes[0], nodes[1]});
}
