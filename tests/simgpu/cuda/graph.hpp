#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tasks.hpp"

// Graphs, and their executable form: the nodes' tasks in an order their edges allow. A launch is
// one operation of its stream; nodes run one after the other.
namespace simgpu {

struct Node {
    Graph* graph = nullptr;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    Task task;
    std::vector<Node*> after;
    const Node* original = nullptr;  // what it is the clone of
    std::vector<CUlaunchAttribute> attributes;

    static Node* from(CUgraphNode handle) { return reinterpret_cast<Node*>(handle); }
    CUgraphNode handle() { return reinterpret_cast<CUgraphNode>(this); }
};

struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;
    // They live with the graph they were made for; executable graphs may outlive that.
    std::vector<std::shared_ptr<Condition>> conditions;

    static Graph* from(CUgraph handle) { return reinterpret_cast<Graph*>(handle); }
    CUgraph handle() { return reinterpret_cast<CUgraph>(this); }

    Node* add(Task task, const std::vector<Node*>& after);
    void remove(Node* node);
    std::shared_ptr<Graph> clone() const;
    // Empty when the edges form a circle.
    std::vector<Node*> topological() const;
};

CUgraphNodeType type_of(const Task& task);
// Such a graph cannot be cloned, nor lose nodes or edges (Driver API manual,
// cuGraphAddMemAllocNode).
bool has_memory_nodes(const Graph& graph);

// Replaces the bodies of a conditional node by others made of them.
void own_bodies(ConditionalTask& task,
                const std::function<std::shared_ptr<Graph>(const Graph&)>& made_of);

struct ExecNode {
    Node* origin = nullptr;
    Task task;
    bool enabled = true;
    std::vector<std::vector<ExecNode>> bodies{};  // of a conditional node
};

struct GraphExec {
    // Replaced, not changed, by an update: a launch in flight keeps what it was launched with.
    std::shared_ptr<const std::vector<ExecNode>> nodes;
    Context* context = nullptr;
    unsigned long long flags = 0;
    std::mutex mutex;
    Point last;  // launches of one executable graph run one after the other

    static GraphExec* from(CUgraphExec handle) { return reinterpret_cast<GraphExec*>(handle); }
    CUgraphExec handle() { return reinterpret_cast<CUgraphExec>(this); }
};

CUresult instantiate(Graph& graph, GraphExec*& exec);
CUresult launch(GraphExec& exec, Stream& stream, uint64_t extra_ns);
CUresult set_exec_task(GraphExec& exec, Node* node, Task task);
CUresult set_exec_enabled(GraphExec& exec, Node* node, bool enabled);
CUresult get_exec_enabled(GraphExec& exec, Node* node, bool& enabled);
CUresult update(GraphExec& exec, Graph& graph);

}  // namespace simgpu
