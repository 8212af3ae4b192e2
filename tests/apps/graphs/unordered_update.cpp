// An update of an executable graph is an instantiation: its new nodes must not disturb each other.
#include "graphs/nodes.hpp"

int main() {
    void *data, *other;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&other, kBytes));
    const cudaMemsetParams one = setting(data);
    const cudaMemsetParams two = setting(other);
    Graph apart, together;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddMemsetNode(&node, apart, nullptr, 0, &one));
    CHECK(cudaGraphAddMemsetNode(&node, apart, nullptr, 0, &two));
    CHECK(cudaGraphAddMemsetNode(&node, together, nullptr, 0, &one));  // FIRST
#ifdef FIXED
    CHECK(cudaGraphAddMemsetNode(&node, together, nullptr, 0, &two));
#else
    CHECK(cudaGraphAddMemsetNode(&node, together, nullptr, 0, &one));  // SECOND
#endif
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, apart, 0));
    cudaGraphExecUpdateResultInfo result{};
    CHECK(cudaGraphExecUpdate(executable, together, &result));  // UPDATES
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    return finish({data, other});
}
