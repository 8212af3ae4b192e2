// An executable graph of what a function queues on a stream; ends with its scope.
#pragma once

#include "app.hpp"

class Executable {
  public:
    template <typename Queue>
    Executable(cudaStream_t stream, Queue queue) {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        queue();
        CHECK(cudaStreamEndCapture(stream, &graph_));
        CHECK(cudaGraphInstantiate(&handle_, graph_, 0));
    }
    ~Executable() {
        CHECK(cudaGraphExecDestroy(handle_));
        CHECK(cudaGraphDestroy(graph_));
    }
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;
    operator cudaGraphExec_t() const { return handle_; }
    cudaGraph_t graph() const { return graph_; }

    /// The only node of the graph.
    cudaGraphNode_t node() const {
        cudaGraphNode_t node = nullptr;
        size_t count = 1;
        CHECK(cudaGraphGetNodes(graph_, &node, &count));
        return node;
    }

  private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t handle_ = nullptr;
};
