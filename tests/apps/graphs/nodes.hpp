// Graphs whose nodes set memory, built by hand.
#pragma once

#include <initializer_list>

#include "app.hpp"

inline cudaMemsetParams setting(void* block) {
    cudaMemsetParams params{};
    params.dst = block;
    params.elementSize = 1;
    params.width = kBytes;
    params.height = 1;
    return params;
}

/// A graph that ends with its scope.
class Graph {
  public:
    Graph() { CHECK(cudaGraphCreate(&handle_, 0)); }
    ~Graph() { CHECK(cudaGraphDestroy(handle_)); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    operator cudaGraph_t() const { return handle_; }

  private:
    cudaGraph_t handle_ = nullptr;
};

// Edges have no data here; since CUDA 13 these functions take it.
#if CUDART_VERSION >= 13000
inline cudaError_t add_dependency(cudaGraph_t graph, cudaGraphNode_t earlier,
                                  cudaGraphNode_t later) {
    return cudaGraphAddDependencies(graph, &earlier, &later, nullptr, 1);
}
inline cudaError_t remove_dependency(cudaGraph_t graph, cudaGraphNode_t earlier,
                                     cudaGraphNode_t later) {
    return cudaGraphRemoveDependencies(graph, &earlier, &later, nullptr, 1);
}
inline cudaError_t forget_capture_dependencies(cudaStream_t stream) {
    return cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                               cudaStreamSetCaptureDependencies);
}
#else
inline cudaError_t add_dependency(cudaGraph_t graph, cudaGraphNode_t earlier,
                                  cudaGraphNode_t later) {
    return cudaGraphAddDependencies(graph, &earlier, &later, 1);
}
inline cudaError_t remove_dependency(cudaGraph_t graph, cudaGraphNode_t earlier,
                                     cudaGraphNode_t later) {
    return cudaGraphRemoveDependencies(graph, &earlier, &later, 1);
}
inline cudaError_t forget_capture_dependencies(cudaStream_t stream) {
    return cudaStreamUpdateCaptureDependencies(stream, nullptr, 0,
                                               cudaStreamSetCaptureDependencies);
}
#endif

/// Launches an executable graph and waits for it.
inline void run(cudaGraphExec_t executable) {
    Stream stream;
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
}
