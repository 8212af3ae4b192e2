// Dependencies can be added and removed until the graph is instantiated.
#include "graphs/nodes.hpp"

int main() {
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const cudaMemsetParams params = setting(data);
    Graph graph;
    cudaGraphNode_t first, second;
    CHECK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &params));   // FIRST
    CHECK(cudaGraphAddMemsetNode(&second, graph, nullptr, 0, &params));  // SECOND
    CHECK(add_dependency(graph, first, second));
#ifndef FIXED
    CHECK(remove_dependency(graph, first, second));
#endif
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));  // INSTANTIATES
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    return finish({data});
}
