// A node that is changed in an executable graph must not disturb those it is not ordered with.
#include "graphs/nodes.hpp"

int main() {
    Stream stream;
    void *data, *other;
    CHECK(cudaMalloc(&data, kBytes));  // ALLOC
    CHECK(cudaMalloc(&other, kBytes));
    const cudaMemsetParams one = setting(data);
    const cudaMemsetParams two = setting(other);
    Graph graph;
    cudaGraphNode_t first, second;
    CHECK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &one));  // FIRST
    CHECK(cudaGraphAddMemsetNode(&second, graph, nullptr, 0, &two));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
#ifdef FIXED
    CHECK(cudaGraphExecMemsetNodeSetParams(executable, second, &two));
#else
    CHECK(cudaGraphExecMemsetNodeSetParams(executable, second, &one));  // CHANGED
#endif
    CHECK(cudaGraphLaunch(executable, stream));  // LAUNCH
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(executable));
    return finish({data, other});
}
