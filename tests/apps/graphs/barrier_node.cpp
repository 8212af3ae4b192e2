// An empty node orders those before it and those after it.
#include "graphs/nodes.hpp"

int main() {
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const cudaMemsetParams params = setting(data);
    Graph graph;
    cudaGraphNode_t first, barrier, second;
    CHECK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &params));  // FIRST
#ifdef FIXED
    CHECK(cudaGraphAddEmptyNode(&barrier, graph, &first, 1));
#else
    CHECK(cudaGraphAddEmptyNode(&barrier, graph, nullptr, 0));
#endif
    CHECK(cudaGraphAddMemsetNode(&second, graph, &barrier, 1, &params));  // SECOND
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));  // INSTANTIATES
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    return finish({data});
}
