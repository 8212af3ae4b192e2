// Nodes that a program adds come after those they depend on, and after no other.
#include "graphs/nodes.hpp"

int main() {
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const cudaMemsetParams params = setting(data);
    Graph graph;
    cudaGraphNode_t first, second;
    CHECK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &params));  // FIRST
#ifdef FIXED
    CHECK(cudaGraphAddMemsetNode(&second, graph, &first, 1, &params));
#else
    CHECK(cudaGraphAddMemsetNode(&second, graph, nullptr, 0, &params));  // SECOND
#endif
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));  // INSTANTIATES
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    return finish({data});
}
