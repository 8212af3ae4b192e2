// The nodes of a child graph run where the child stands: before what depends on it, beside the
// rest.
#include "graphs/nodes.hpp"

int main() {
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const cudaMemsetParams params = setting(data);
    Graph inner, outer;
    cudaGraphNode_t inside, child, beside;
    CHECK(cudaGraphAddMemsetNode(&inside, inner, nullptr, 0, &params));  // INSIDE
    CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
#ifdef FIXED
    CHECK(cudaGraphAddMemsetNode(&beside, outer, &child, 1, &params));
#else
    CHECK(cudaGraphAddMemsetNode(&beside, outer, nullptr, 0, &params));  // BESIDE
#endif
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, outer, 0));  // INSTANTIATES
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    return finish({data});
}
