// A clone of a graph has its nodes and its dependencies; a node that is destroyed takes those it
// had along.
#include "graphs/nodes.hpp"

int main() {
    void* data;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    const cudaMemsetParams params = setting(data);
    Graph graph;
    cudaGraphNode_t first, between, second, cloned;
    CHECK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &params));  // FIRST
    CHECK(cudaGraphAddEmptyNode(&between, graph, &first, 1));
    CHECK(cudaGraphAddMemsetNode(&second, graph, &between, 1, &params));  // SECOND
    cudaGraph_t clone;
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphNodeFindInClone(&cloned, between, clone));
#ifndef FIXED
    CHECK(cudaGraphDestroyNode(cloned));
#endif
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, clone, 0));  // INSTANTIATES
    run(executable);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(clone));
    return finish({data});
}
